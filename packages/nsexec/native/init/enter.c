#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "confine.h"
#include "fail.h"
#include "ids.h"
#include "mirror.h"
#include "roles.h"
#include "sys.h"

static void check(const struct plan *plan) {
  if (!plan->program) fail_errno("plan", "program", EINVAL);
  if (!plan->argv.list || plan->argv.count == 0) fail_errno("plan", "argv", EINVAL);
  if (!plan->env.list) fail_errno("plan", "env", EINVAL);
  if (plan->session_fd < 0) fail_errno("plan", "session-fd", EINVAL);
  if (!plan->has_uid || !plan->has_gid) fail_errno("plan", "uid", EINVAL);
}

// Confined first, so that no code of the session can meet a process that holds more.
_Noreturn static void run_program(const struct plan *plan) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) fail("enter", "PR_SET_PDEATHSIG");
  if (setsid() < 0) fail("enter", "setsid");
  confine_descriptors(control_fd);
  confine(plan);
  const char *cwd = plan->cwd ? plan->cwd : "/";
  if (chdir(cwd) < 0) fail("cwd", cwd);
  execve(plan->program, plan->argv.list, plan->env.list);
  fail("exec", plan->program);
}

_Noreturn void role_enter(void) {
  struct plan *plan = plan_receive();
  check(plan);
  // Until exec nothing inside may look at this process or reach its file through /proc/PID/exe.
  if (prctl(PR_SET_DUMPABLE, 0) < 0) fail("enter", "PR_SET_DUMPABLE");
  // One call joins them all, the user namespace first (setns(2) on a pidfd); root and cwd follow the mounts.
  if (setns(plan->session_fd, (int)plan->namespaces) < 0) fail("enter", "setns");
  if (plan->namespaces & CLONE_NEWUSER) ids_become(0, 0, NULL, 0);
  pid_t pid = fork();
  if (pid < 0) fail("enter", "fork");
  if (pid == 0) run_program(plan);
  // End of file on the control socket must come with the program's exec.
  close(control_fd);
  control_fd = -1;
  mirror(pid);
}
