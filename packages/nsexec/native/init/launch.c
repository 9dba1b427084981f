#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "bounds.h"
#include "confine.h"
#include "fail.h"
#include "ids.h"
#include "mirror.h"
#include "pivot.h"
#include "report.h"
#include "roles.h"
#include "steps.h"
#include "sys.h"

static void loopback_up(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0) fail("lo", "SIOCSIFFLAGS");
  close(fd);
}

// The cgroup namespace comes last and by unshare: clone3 would root it at the launcher's group, not at
// the one that CLONE_INTO_CGROUP put the child into.
static void enter_cgroup_namespace(const struct plan *plan) {
  if (plan->namespaces & CLONE_NEWCGROUP && unshare(CLONE_NEWCGROUP) < 0) fail("cgroup-namespace", "unshare");
}

static void wait_for_maps(int released) {
  char byte;
  if (read(released, &byte, 1) != 1) _exit(EXIT_SAID);
}

// The launcher holds the other end for as long as it lives.
static bool launcher_gone(int released) {
  struct pollfd end = {.fd = released};
  return poll(&end, 1, 0) > 0;
}

// The control socket alone is kept, across exec too: stage 2 reports on it.
_Noreturn static void exec_init(const struct plan *plan) {
  confine_descriptors(control_fd);
  if (fcntl(control_fd, F_SETFD, 0) < 0) fail("descriptors", "control socket");
  confine_init(plan);
  char control[16];
  snprintf(control, sizeof control, "%d", control_fd);
  char *role = plan->has_capabilities ? "confined-init" : "init";
  char *argv[] = {"drums-init", role, control, NULL};
  execve(plan->program, argv, plan->env.list);
  fail("exec", plan->program);
}

// The socket closes with the exec, which tells the caller that the program runs. It dies with the launcher.
_Noreturn static void exec_program(const struct plan *plan, int released) {
  const char *cwd = plan->cwd ? plan->cwd : "/";
  confine(plan);
  // After the change of ids, which clears it (prctl(2)).
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) fail("exec", "PR_SET_PDEATHSIG");
  if (launcher_gone(released)) _exit(EXIT_SAID);
  confine_descriptors(control_fd);
  if (chdir(cwd) < 0) fail("cwd", cwd);
  execve(plan->program, plan->argv.list, plan->env.list);
  fail("exec", plan->program);
}

static bool is_attached(const struct plan *plan) { return plan->argv.count > 0; }

// Only the host's root may mount what a session's own root may not: then a mount namespace of the launcher's is
// needed, which the child's copies.
static bool needs_own_mounts(const struct plan *plan) { return plan->namespaces & CLONE_NEWUSER; }

static void host_mounts(const struct plan *plan) {
  root_make_private();
  int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) fail("private", "/");
  struct step_context context = {.root = root, .userns_fd = plan->id_size ? ids_map_namespace(plan) : -1};
  steps_run(&plan->host, &context);
  close(root);
  if (context.userns_fd >= 0) close(context.userns_fd);
}

_Noreturn static void become_first(const struct plan *plan, int released) {
  wait_for_maps(released);
  if (plan->oom_score) bound_memory(plan->oom_score);
  if (!needs_own_mounts(plan)) host_mounts(plan);
  struct step_context context = {.root = root_bind(plan->root), .userns_fd = -1};
  steps_take_sources(&plan->inside);
  if (plan->namespaces & CLONE_NEWUSER) {
    ids_become(0, 0, NULL, 0);
    ids_own_proc();
  }
  if (!is_attached(plan)) report_file("host-cgroup", "/proc/self/cgroup");
  enter_cgroup_namespace(plan);
  steps_run(&plan->inside, &context);
  if (sethostname(plan->hostname, strlen(plan->hostname)) < 0) fail("hostname", plan->hostname);
  if (plan->lo) loopback_up();
  root_pivot(context.root);
  if (setsid() < 0) fail("setsid", "");
  confine_stdio(plan->stdio);
  if (is_attached(plan)) exec_program(plan, released);
  exec_init(plan);
}

static void check(const struct plan *plan) {
  if (!plan->root) fail_errno("plan", "root", EINVAL);
  if (!plan->hostname) fail_errno("plan", "hostname", EINVAL);
  if (!plan->program) fail_errno("plan", "program", EINVAL);
  if (!plan->env.list) fail_errno("plan", "env", EINVAL);
  // Without these the launcher's own would be changed or left.
  uint64_t needed = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS;
  if ((plan->namespaces & needed) != needed) fail_errno("plan", "namespaces", EINVAL);
  if (!(plan->namespaces & CLONE_NEWUSER) != !plan->id_size) fail_errno("plan", "id-map", EINVAL);
  if (plan->lo && !(plan->namespaces & CLONE_NEWNET)) fail_errno("plan", "lo", EINVAL);
  if (plan->monotonic && !(plan->namespaces & CLONE_NEWTIME)) fail_errno("plan", "time", EINVAL);
}

// The launcher's own mount namespace, to which it returns.
static int open_own_mounts(void) {
  int fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("private", "/proc/self/ns/mnt");
  return fd;
}

// The child has copies of all mounts by now. To take ours down costs as much as to make them: here it is done
// while the child works, and not at our end, for which the caller waits.
static void leave_mounts(int own) {
  if (setns(own, CLONE_NEWNS) < 0) fail("private", "setns");
  close(own);
}

// By unshare and not by clone3, which would freeze the offsets before they are set (time_namespaces(7)).
static void new_time_namespace(const struct plan *plan) {
  if (!(plan->namespaces & CLONE_NEWTIME)) return;
  if (unshare(CLONE_NEWTIME) < 0) fail("time-namespace", "unshare");
  if (!plan->monotonic) return;
  const char *path = "/proc/self/timens_offsets";
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) fail("time-namespace", path);
  if (dprintf(fd, "monotonic %s 0\nboottime %s 0\n", plan->monotonic, plan->boottime) < 0)
    fail("time-namespace", path);
  close(fd);
}

_Noreturn void role_launch(bool net_ahead) {
  if (net_ahead && unshare(CLONE_NEWNET) < 0) fail("net-namespace", "unshare");
  struct plan *plan = plan_receive();
  check(plan);
  if (net_ahead && (plan->namespaces & (CLONE_NEWNET | CLONE_NEWUSER)) != CLONE_NEWNET)
    fail_errno("plan", "namespaces", EINVAL);
  umask(0022);
  int own_mounts = needs_own_mounts(plan) ? open_own_mounts() : -1;
  if (own_mounts >= 0) {
    if (unshare(CLONE_NEWNS) < 0) fail("private", "unshare");
    host_mounts(plan);
  }
  new_time_namespace(plan);
  int gate[2];
  if (pipe2(gate, O_CLOEXEC) < 0) fail("clone", "pipe");
  uint64_t made_apart = CLONE_NEWCGROUP | CLONE_NEWTIME | (net_ahead ? CLONE_NEWNET : 0);
  struct clone_args args = {.flags = plan->namespaces & ~made_apart, .exit_signal = SIGCHLD};
  if (plan->cgroup_fd >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = (uint64_t)plan->cgroup_fd;
  }
  pid_t pid = (pid_t)sys_clone3(&args);
  if (pid < 0) fail("clone", "clone3");
  if (pid == 0) {
    close(gate[1]);
    become_first(plan, gate[0]);
  }
  if (plan->id_size) ids_write_maps(pid, plan);
  if (!is_attached(plan)) report_child(pid);
  if (write(gate[1], "", 1) != 1) fail("clone", "gate");
  if (own_mounts >= 0) leave_mounts(own_mounts);
  if (is_attached(plan)) {
    close(control_fd);
    control_fd = -1;
    mirror(pid);
  }
  // The session's init now belongs to the host's reaper: it outlives the launcher and the launcher's caller.
  _exit(0);
}
