#include "ids.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "fail.h"
#include "sys.h"

static void write_map(pid_t pid, const char *file, const struct plan *plan) {
  char path[64], line[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
  int length = snprintf(line, sizeof line, "0 %u %u\n", plan->id_base, plan->id_size);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) fail("id-map", path);
  // A map is taken whole by one write or not at all.
  if (write(fd, line, (size_t)length) != length) fail("id-map", path);
  close(fd);
}

void ids_write_maps(pid_t pid, const struct plan *plan) {
  write_map(pid, "uid_map", plan);
  write_map(pid, "gid_map", plan);
}

int ids_map_namespace(const struct plan *plan) {
  struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
  pid_t pid = (pid_t)sys_clone3(&args);
  if (pid < 0) fail("id-map", "user namespace");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
  ids_write_maps(pid, plan);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("id-map", path);
  kill(pid, SIGKILL);
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
  return fd;
}

void ids_become(uid_t uid, gid_t gid, const gid_t *groups, size_t count) {
  if (setgroups(count, groups) < 0) fail("ids", "setgroups");
  if (setresgid(gid, gid, gid) < 0) fail("ids", "setresgid");
  if (setresuid(uid, uid, uid) < 0) fail("ids", "setresuid");
}

void ids_own_proc(void) {
  if (prctl(PR_SET_DUMPABLE, 1) < 0) fail("ids", "PR_SET_DUMPABLE");
}
