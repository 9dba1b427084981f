#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "bounds.h"
#include "fail.h"
#include "plan.h"
#include "report.h"
#include "roles.h"
#include "sys.h"

static const char *const PATH = "/proc/sys/kernel/pid_max";

static int open_root(void) {
  int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fail("pid-max", "/");
  return fd;
}

// Short, and in no session's mounts: the file is this process's own /proc, which shows the pid namespace of its reader.
_Noreturn static void set(const struct plan *plan) {
  bound_pids(open_root(), plan->pid_limit);
  report_file("pid-max", PATH);
  _exit(0);
}

// Before 6.14 there is one limit for all (kernel/pid_namespace.c): what was written then is the host's.
static void read_own(char *text, size_t size) {
  int fd = open(PATH, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);
  if (length < 0) fail("pid-max", PATH);
  text[length] = 0;
  close(fd);
}

_Noreturn void role_pid_max(void) {
  struct plan *plan = plan_receive();
  char before[32], after[32];
  int status;
  if (!plan->pid_limit || plan->session_fd < 0) fail_errno("plan", "pid-max", EINVAL);
  if (prctl(PR_SET_DUMPABLE, 0) < 0) fail("pid-max", "PR_SET_DUMPABLE");
  read_own(before, sizeof before);
  if (setns(plan->session_fd, CLONE_NEWPID) < 0) fail("pid-max", "setns");
  pid_t pid = fork();
  if (pid < 0) fail("pid-max", "fork");
  if (pid == 0) set(plan);
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) fail("pid-max", "waitpid");
  read_own(after, sizeof after);
  if (strcmp(before, after) != 0) {
    bound_pids(open_root(), before);
    fail_errno("pid-max", "of the host", EXDEV);
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SAID);
}
