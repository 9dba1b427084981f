// The machine's settings and secrets, as /proc and /sys show them. A file that opens for writing is enough: nothing is written.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <unistd.h>

#include "attempt.h"

static int opens(const char *path, int flags) {
  int fd = open(path, flags | O_NONBLOCK);
  int error = refusal(fd);
  if (fd >= 0) close(fd);
  return error;
}

// A file that is there and holds nothing gives nothing away.
static int holds(const char *path) {
  char byte;
  int fd = open(path, O_RDONLY | O_NONBLOCK);
  if (fd < 0) return errno;
  ssize_t length = read(fd, &byte, 1);
  int error = length < 0 ? errno : length == 0 ? ENODATA : 0;
  close(fd);
  return error;
}

static int core_pattern(void) { return opens("/proc/sys/kernel/core_pattern", O_WRONLY); }
static int modprobe_path(void) { return opens("/proc/sys/kernel/modprobe", O_WRONLY); }
static int binfmt(void) { return opens("/proc/sys/fs/binfmt_misc/register", O_WRONLY); }
static int vm_setting(void) { return opens("/proc/sys/vm/overcommit_memory", O_WRONLY); }
static int sysrq(void) { return opens("/proc/sysrq-trigger", O_WRONLY); }
static int irq_affinity(void) { return opens("/proc/irq/default_smp_affinity", O_WRONLY); }
static int remount_settings(void) { return refusal(mount("", "/proc/sys", NULL, MS_REMOUNT | MS_BIND, NULL)); }
static int unmask(void) { return refusal(umount2("/proc/kcore", MNT_DETACH)); }
static int kcore(void) { return holds("/proc/kcore"); }
static int kallsyms(void) { return holds("/proc/kallsyms"); }
static int keys(void) { return holds("/proc/keys"); }
static int timers(void) { return holds("/proc/timer_list"); }
static int page_counts(void) { return holds("/proc/kpagecount"); }
static int kernel_log(void) {
  char byte[16];
  return refusal(klogctl(3, byte, sizeof byte));
}
static int sys_writable(void) { return refusal(mount("", "/sys", NULL, MS_REMOUNT | MS_BIND, NULL)); }
static int sys_setting(void) { return opens("/sys/devices/system/cpu/smt/control", O_WRONLY); }
static int uevent_helper(void) { return opens("/sys/kernel/uevent_helper", O_WRONLY); }
static int debug_files(void) { return opens("/sys/kernel/debug", O_RDONLY | O_DIRECTORY) ?: holds("/sys/kernel/debug/sched/debug"); }
static int efi_variables(void) { return opens("/sys/firmware/efi/efivars", O_RDONLY | O_DIRECTORY); }
static int cgroup_files(void) { return opens("/sys/fs/cgroup/cgroup.procs", O_WRONLY); }
static int oom_score(void) {
  int fd = open("/proc/self/oom_score_adj", O_WRONLY);
  if (fd < 0) return errno;
  int error = refusal(write(fd, "-1000", 5));
  close(fd);
  return error;
}

static const struct attempt LIST[] = {
    {"core-pattern", core_pattern},     {"modprobe-path", modprobe_path},
    {"binfmt-register", binfmt},        {"vm-setting", vm_setting},
    {"sysrq", sysrq},                   {"irq-affinity", irq_affinity},
    {"remount-proc-sys", remount_settings}, {"unmask-kcore", unmask},
    {"read-kcore", kcore},              {"read-kallsyms", kallsyms},
    {"read-keys", keys},                {"read-timers", timers},
    {"read-page-counts", page_counts},  {"read-kernel-log", kernel_log},
    {"remount-sys", sys_writable},      {"write-sys", sys_setting},
    {"uevent-helper", uevent_helper},   {"debugfs-files", debug_files},
    {"efi-variables", efi_variables},   {"cgroup-files", cgroup_files},
    {"oom-score", oom_score},
};
const struct attempts SETTINGS = {LIST, sizeof LIST / sizeof *LIST};
