// What init knows of the programs it started: a bounded table, oldest finished entries forgotten first.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAX_CHILDREN = 1024 };

struct child {
  pid_t pid;  // 0: a free entry
  bool finished;
  int status;         // as of waitpid, once finished
  uint32_t sequence;  // order of starting
  int pty;            // the master side, or -1
  int pty_log;        // where the pty's output goes, or -1
};

// Whether one more fits: false when every entry is a program that still runs.
bool child_room(void);
struct child *child_add(pid_t pid);
struct child *child_find(pid_t pid);
void child_remove(struct child *child);

// The table itself, for listing; entries with pid 0 are free.
struct child *child_table(void);

// Reaps at most LIMIT processes, orphans included, without waiting; CALLED for each of ours. Gives false
// when more may be there.
bool children_reap(int limit, void (*called)(struct child *));
