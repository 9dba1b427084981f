#include "bounds.h"

#include <string.h>

#include "fail.h"
#include "sys.h"

static void write_text(int fd, const char *step, const char *path, const char *text) {
  if (fd < 0) fail(step, path);
  if (write(fd, text, strlen(text)) < 0) fail(step, path);
  close(fd);
}

void bound_pids(int root, const char *limit) {
  const char *path = "/proc/sys/kernel/pid_max";
  int fd = sys_openat2(root, path, O_WRONLY | O_CLOEXEC, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
  write_text(fd, "pid-max", path, limit);
}

void bound_memory(const char *score) {
  const char *path = "/proc/self/oom_score_adj";
  write_text(open(path, O_WRONLY | O_CLOEXEC), "oom-score", path, score);
}
