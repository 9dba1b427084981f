// New namespaces, other ones, and capabilities that were given up.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attempt.h"

static int new_user(void) { return refusal(unshare(CLONE_NEWUSER)); }
static int new_mounts(void) { return refusal(unshare(CLONE_NEWNS)); }
static int new_net(void) { return refusal(unshare(CLONE_NEWUSER | CLONE_NEWNET)); }
static int new_cgroup(void) { return refusal(unshare(CLONE_NEWCGROUP)); }

static int cloned(long pid) {
  if (pid == 0) _exit(0);
  return refusal(pid);
}
static int clone_user(void) { return cloned(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)); }
static int clone3_user(void) {
  struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
  return cloned(syscall(SYS_clone3, &args, sizeof args));
}

static int join(const char *path) {
  int fd = open(path, O_RDONLY);
  if (fd < 0) return errno;
  return refusal(setns(fd, 0));
}
static int join_mounts(void) { return join("/proc/self/ns/mnt"); }
static int join_init(void) { return join("/proc/1/ns/user"); }
static int join_by_pidfd(void) {
  int fd = (int)syscall(SYS_pidfd_open, 1, 0);
  if (fd < 0) return errno;
  return refusal(setns(fd, CLONE_NEWNS));
}

static int host_name(void) { return refusal(sethostname("attempt", 7)); }

static int gain(int capability) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &header, data) < 0) return errno;
  uint32_t bit = 1u << (capability % 32);
  data[capability / 32].permitted |= bit;
  data[capability / 32].effective |= bit;
  return refusal(syscall(SYS_capset, &header, data));
}
static int gain_admin(void) { return gain(CAP_SYS_ADMIN); }
static int gain_ptrace(void) { return gain(CAP_SYS_PTRACE); }
static int gain_reading(void) { return gain(CAP_DAC_READ_SEARCH); }
static int secure_bits(void) { return refusal(prctl(PR_SET_SECUREBITS, SECBIT_NOROOT, 0, 0, 0)); }
static int drop_filter(void) { return refusal(prctl(PR_SET_SECCOMP, 0, 0, 0, 0)); }

static const struct attempt LIST[] = {
    {"unshare-user", new_user},       {"unshare-mounts", new_mounts},  {"unshare-net", new_net},
    {"unshare-cgroup", new_cgroup},   {"clone-user", clone_user},      {"clone3-user", clone3_user},
    {"setns-mounts", join_mounts},    {"setns-user", join_init},       {"setns-pidfd", join_by_pidfd},
    {"set-host-name", host_name},     {"gain-sys-admin", gain_admin},  {"gain-sys-ptrace", gain_ptrace},
    {"gain-read-search", gain_reading}, {"securebits", secure_bits},   {"drop-filter", drop_filter},
};
const struct attempts NAMESPACES = {LIST, sizeof LIST / sizeof *LIST};
