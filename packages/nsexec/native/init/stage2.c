#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "fail.h"
#include "report.h"
#include "roles.h"
#include "server.h"
#include "sys.h"

// Everything as this process itself sees it, from inside the root that it runs in.
static void report(void) {
  report_file("cgroup", "/proc/self/cgroup");
  report_file("mountinfo", "/proc/self/mountinfo");
  report_file("uid-map", "/proc/self/uid_map");
  report_file("status", "/proc/self/status");
  report_file("pid-max", "/proc/sys/kernel/pid_max");
  report_namespaces();
  control_send("ready", sizeof "ready");
}

// Anything but `go`, and the host's end being gone, is a refusal: PID 1 ends and the session with it.
static void wait_for_go(void) {
  char answer[8] = {0};
  ssize_t length;
  while ((length = recv(control_fd, answer, sizeof answer - 1, 0)) < 0 && errno == EINTR) continue;
  if (length <= 0 || strcmp(answer, "go") != 0) _exit(0);
}

_Noreturn void role_init(void) {
  if (getpid() != 1) fail_errno("init", "not PID 1", EINVAL);
  umask(0022);
  report();
  wait_for_go();
  int listener = server_listen();
  control_send("up", sizeof "up");
  close(control_fd);
  control_fd = -1;
  server_run(listener);
}
