#include "bounds.h"

#include <string.h>

#include "fail.h"
#include "sys.h"

static void write_text(const char *step, const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) fail(step, path);
  if (write(fd, text, strlen(text)) < 0) fail(step, path);
  close(fd);
}

void bound_pids(const char *limit) { write_text("pid-max", "/proc/sys/kernel/pid_max", limit); }

void bound_memory(const char *score) { write_text("oom-score", "/proc/self/oom_score_adj", score); }
