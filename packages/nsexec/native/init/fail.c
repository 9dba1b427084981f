#include "fail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int control_fd = -1;

void fail_errno(const char *step, const char *path, int error) {
  char packet[4096 + 256];
  int length = snprintf(packet, sizeof packet, "fail%c%s%c%.4000s%c%d", 0, step, 0, path, 0, error);
  if (control_fd >= 0) {
    // Nothing is left to be done about a send that fails here: the exit status still says it.
    (void)!send(control_fd, packet, (size_t)length, MSG_NOSIGNAL);
  } else {
    dprintf(STDERR_FILENO, "drums-init: %s %s: %s\n", step, path, strerror(error));
  }
  _exit(EXIT_SAID);
}

void fail(const char *step, const char *path) { fail_errno(step, path, errno); }

void control_send(const void *packet, unsigned long length) {
  if (send(control_fd, packet, length, MSG_NOSIGNAL) < 0) fail("control-send", "");
}
