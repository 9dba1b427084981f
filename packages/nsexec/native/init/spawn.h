// Starts a program as a child of init, without init ever waiting for it.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct spawn_request {
  uid_t uid;
  gid_t gid;
  const gid_t *groups;
  size_t group_count;
  const char *cwd;
  // Paths; "" is /dev/null. Output is appended to, and made 0644 where absent. No component may be a link.
  const char *stdio[3];
  bool pty;  // stdio is a new pty, whose output goes to stdio[1]
  unsigned short rows, columns;
  char **argv, **env;
};

struct spawned {
  pid_t pid;
  int result;   // read end: end of file is success, else one struct spawn_fault
  int pty;      // master, or -1
  int pty_log;  // or -1
};

// What the child says when it could not start the program; STEP is one of spawn_step's names.
struct spawn_fault {
  int32_t step, error;
};
const char *spawn_step(int32_t step);

// Forks; false with errno where that already fails. What fails later comes through RESULT.
bool spawn_start(const struct spawn_request *request, struct spawned *spawned);
