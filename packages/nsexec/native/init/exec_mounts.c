#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "fail.h"
#include "ids.h"
#include "pivot.h"
#include "roles.h"
#include "steps.h"
#include "sys.h"

// The control socket and all that is ours are O_CLOEXEC: for the caller, end of file means that exec was done.
#ifndef PR_SET_MEMORY_MERGE
#define PR_SET_MEMORY_MERGE 67
#endif

_Noreturn void role_exec_in_mounts(void) {
  struct plan *plan = plan_receive();
  if (!plan->program) fail_errno("plan", "program", EINVAL);
  if (!plan->argv.list || plan->argv.count == 0) fail_errno("plan", "argv", EINVAL);
  if (!plan->env.list) fail_errno("plan", "env", EINVAL);
  if (unshare(CLONE_NEWNS) < 0) fail("private", "unshare");
  root_make_private();
  int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) fail("private", "/");
  struct step_context context = {.root = root, .userns_fd = plan->id_size ? ids_map_namespace(plan) : -1};
  mode_t mask = umask(0022);
  steps_run(&plan->host, &context);
  umask(mask);
  close(root);
  if (context.userns_fd >= 0) close(context.userns_fd);
  if (plan->cwd && chdir(plan->cwd) < 0) fail("cwd", plan->cwd);
  if (plan->has_uid && plan->has_gid) {
    ids_become(plan->uid, plan->gid, plan->groups, plan->group_count);
    ids_own_proc();
  }
  // Inherited by all that the program makes, through fork and, from Linux 6.7 on, exec (ksm_fork, ksm_execve).
  if (plan->merge && prctl(PR_SET_MEMORY_MERGE, 1, 0, 0, 0) < 0) fail("merge", "PR_SET_MEMORY_MERGE");
  execve(plan->program, plan->argv.list, plan->env.list);
  fail("exec", plan->program);
}
