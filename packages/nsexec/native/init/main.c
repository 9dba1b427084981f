// drums-init ROLE CONTROL_FD
// One static program with a few roles (roles.h). Who calls it listens on CONTROL_FD, a SOCK_SEQPACKET socket.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "confine.h"
#include "fail.h"
#include "roles.h"

static int usage(void) {
  fputs("usage: drums-init launch|launch-with-net|init|confined-init|exec-in-mounts|enter|pid-max CONTROL_FD\n", stderr);
  return 2;
}

static int take_control(const char *text) {
  char *end;
  long fd = strtol(text, &end, 10);
  int type;
  socklen_t length = sizeof type;
  if (end == text || *end || fd < 3 || fd > 1 << 20) return 0;
  if (getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0 || type != SOCK_SEQPACKET) return 0;
  control_fd = (int)fd;
  return fcntl(control_fd, F_SETFD, FD_CLOEXEC) == 0;
}

// A caller may start us without them, and what we open would then land on 0, 1 and 2.
static int occupy_stdio(void) {
  int fd;
  while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd < 3) continue;
  return fd >= 0 && close(fd) == 0;
}

int main(int argc, char **argv) {
  if (argc != 3 || !take_control(argv[2])) return usage();
  // This one's program gets the caller's descriptors and no others.
  if (strcmp(argv[1], "exec-in-mounts") == 0) role_exec_in_mounts();
  if (!occupy_stdio()) fail("stdio", "/dev/null");
  if (strcmp(argv[1], "launch") == 0) role_launch(false);
  if (strcmp(argv[1], "launch-with-net") == 0) role_launch(true);
  if (strcmp(argv[1], "confined-init") == 0) confine_mark();
  if (strcmp(argv[1], "init") == 0 || strcmp(argv[1], "confined-init") == 0) role_init();
  if (strcmp(argv[1], "enter") == 0) role_enter();
  if (strcmp(argv[1], "pid-max") == 0) role_pid_max();
  return usage();
}
