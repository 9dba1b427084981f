// Parts of the kernel that have been a way out before, other ABIs, and the machine's clock and power.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/reboot.h>
#include <stdint.h>
#include <string.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "attempt.h"

static int bpf(void) {
  uint32_t attr[18] = {2 /* BPF_MAP_TYPE_ARRAY */, 4, 4, 1};
  return refusal(syscall(SYS_bpf, 0 /* BPF_MAP_CREATE */, attr, sizeof attr));
}
static int perf(void) {
  uint64_t attr[16] = {1 | (uint64_t)sizeof attr << 32};
  return refusal(syscall(SYS_perf_event_open, attr, 0, -1, -1, 0));
}
static int fault_handler(void) { return refusal(syscall(SYS_userfaultfd, O_CLOEXEC)); }
static int uring(void) {
  char params[120] = {0};
  return refusal(syscall(SYS_io_uring_setup, 4, params));
}
static int keyring(void) { return refusal(syscall(SYS_keyctl, 0, -3, 1)); }
static int new_key(void) { return refusal(syscall(SYS_add_key, "user", "attempt", "x", 1, -2)); }
static int fanotify(void) { return refusal(syscall(SYS_fanotify_init, 0, O_RDONLY)); }
static int accounting(void) { return refusal(syscall(SYS_acct, "/tmp/attempt-acct")); }
static int quota(void) { return refusal(syscall(SYS_quotactl, 0x80000100, NULL, 0, NULL)); }
static int swap_on(void) { return refusal(swapon("/tmp/attempt-swap", 0)); }
static int swap_off(void) { return refusal(swapoff("/dev/zram0")); }
static int restart(void) {
  return refusal(syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_CAD_OFF, NULL));
}
static int other_kernel(void) { return refusal(syscall(SYS_kexec_load, 0, 0, NULL, 0)); }
static int module(void) { return refusal(syscall(SYS_init_module, "", 0, "")); }
static int module_file(void) { return refusal(syscall(SYS_finit_module, 0, "", 0)); }
static int remove_module(void) { return refusal(syscall(SYS_delete_module, "attempt", O_NONBLOCK)); }
static int port_level(void) { return refusal(syscall(SYS_iopl, 3)); }
static int ports(void) { return refusal(syscall(SYS_ioperm, 0x80, 1, 1)); }
static int descriptor_table(void) {
  char entry[16] = {0};
  return refusal(syscall(SYS_modify_ldt, 1, entry, sizeof entry));
}
static int hang_up(void) { return refusal(syscall(SYS_vhangup)); }

// The time as it is: a machine that takes it is not set wrong.
static int set_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return refusal(clock_settime(CLOCK_REALTIME, &now));
}
static int set_day(void) {
  struct timeval now;
  gettimeofday(&now, NULL);
  return refusal(settimeofday(&now, NULL));
}
static int tune_clock(void) {
  struct timex none = {.modes = 0};
  long result = syscall(SYS_adjtimex, &none);
  return result < 0 ? errno : 0;
}
static int move_memory(void) { return refusal(syscall(SYS_move_pages, 1, 0, NULL, NULL, NULL, 0)); }
static int migrate_memory(void) { return refusal(syscall(SYS_migrate_pages, 1, 0, NULL, NULL)); }

// getpid of the 32-bit table, and of x32: filters that know one ABI only have been passed by the others.
static int old_abi(void) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
  return result < 0 ? (int)-result : 0;
}
static int x32(void) { return refusal(syscall(0x40000000 | SYS_getpid)); }

static const struct attempt LIST[] = {
    {"bpf", bpf},               {"perf-event", perf},          {"userfaultfd", fault_handler},
    {"io-uring", uring},        {"keyctl", keyring},           {"add-key", new_key},
    {"fanotify", fanotify},     {"acct", accounting},          {"quotactl", quota},
    {"swapon", swap_on},        {"swapoff", swap_off},         {"reboot", restart},
    {"kexec", other_kernel},    {"init-module", module},       {"finit-module", module_file},
    {"delete-module", remove_module}, {"iopl", port_level},    {"ioperm", ports},
    {"modify-ldt", descriptor_table}, {"vhangup", hang_up},    {"clock-settime", set_clock},
    {"settimeofday", set_day},  {"adjtimex", tune_clock},      {"move-pages", move_memory},
    {"migrate-pages", migrate_memory}, {"int-0x80", old_abi},  {"x32", x32},
};
const struct attempts KERNEL = {LIST, sizeof LIST / sizeof *LIST};
