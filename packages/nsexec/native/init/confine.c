#include "confine.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "fail.h"
#include "ids.h"
#include "sys.h"

static void set_limits(const struct plan *plan) {
  for (size_t i = 0; i < plan->limit_count; i++) {
    const struct limit *limit = &plan->limits[i];
    struct rlimit value = {.rlim_cur = limit->soft, .rlim_max = limit->hard};
    char name[32];
    snprintf(name, sizeof name, "resource %d", limit->resource);
    if (setrlimit((__rlimit_resource_t)limit->resource, &value) < 0) fail("limit", name);
  }
}

static void set_filter(const struct plan *plan) {
  if (!plan->seccomp) return;
  struct sock_fprog program = {
      .len = (unsigned short)(plan->seccomp_bytes / sizeof(struct sock_filter)),
      .filter = (struct sock_filter *)(void *)plan->seccomp,
  };
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0) fail("seccomp", "filter");
}

static void drop_bounding(uint64_t kept) {
  for (int cap = 0; cap < 64; cap++) {
    if (kept >> cap & 1) continue;
    // EINVAL: the kernel does not know this capability, nor any above it.
    if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno != EINVAL) fail("capabilities", "bounding set");
  }
}

static void set_capabilities(const struct plan *plan) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) fail("capabilities", "ambient set");
  if (syscall(SYS_capget, &header, data) < 0) fail("capabilities", "capget");
  for (int i = 0; i < 2; i++) {
    uint32_t kept = (uint32_t)(plan->capabilities >> (32 * i));
    data[i].permitted &= kept;
    data[i].effective = data[i].permitted;
    data[i].inheritable = 0;
  }
  if (syscall(SYS_capset, &header, data) < 0) fail("capabilities", "capset");
}

void confine(const struct plan *plan) {
  set_limits(plan);
  if (plan->no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) fail("no-new-privs", "");
  // From the bounding set first: that takes CAP_SETPCAP, which another uid no longer has.
  if (plan->has_capabilities) drop_bounding(plan->capabilities);
  set_filter(plan);
  if (plan->has_uid && plan->has_gid) ids_become(plan->uid, plan->gid, plan->groups, plan->group_count);
  if (plan->has_capabilities) set_capabilities(plan);
}

// Of no use: the kernel asks for it in the host's user namespace alone (kernel/time/alarmtimer.c).
enum { MARK = CAP_WAKE_ALARM };

void confine_init(const struct plan *plan) {
  struct plan own = *plan;
  own.capabilities |= 1ULL << MARK | 1ULL << CAP_SETPCAP;
  confine(&own);
}

void confine_mark(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  const int taken[] = {MARK, CAP_SETPCAP};
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (prctl(PR_CAPBSET_DROP, taken[i], 0, 0, 0) < 0) fail("capabilities", "bounding set");
  if (syscall(SYS_capget, &header, data) < 0) fail("capabilities", "capget");
  data[0].permitted &= ~(1u << CAP_SETPCAP);
  data[0].effective &= ~(1u << CAP_SETPCAP);
  data[MARK / 32].effective &= ~(1u << MARK % 32);
  if (syscall(SYS_capset, &header, data) < 0) fail("capabilities", "capset");
}

void confine_stdio(unsigned kept) {
  // Not O_CLOEXEC: where 0 is free it is this very descriptor that stays.
  int null = open("/dev/null", O_RDWR);
  if (null < 0) fail("stdio", "/dev/null");
  for (int fd = 0; fd < 3; fd++)
    if (!(kept >> fd & 1) && dup2(null, fd) < 0) fail("stdio", "/dev/null");
  if (null > 2) close(null);
}

void confine_descriptors(int keep) {
  if (keep < 3) {
    if (sys_close_range(3, ~0U) < 0) fail("descriptors", "close_range");
    return;
  }
  if (keep > 3 && sys_close_range(3, (unsigned)keep - 1) < 0) fail("descriptors", "close_range");
  if (sys_close_range((unsigned)keep + 1, ~0U) < 0) fail("descriptors", "close_range");
}
