#include "children.h"

#include <stddef.h>
#include <sys/wait.h>

static struct child table[MAX_CHILDREN];
static uint32_t sequence;

struct child *child_table(void) { return table; }

static struct child *free_entry(void) {
  struct child *oldest = NULL;
  for (size_t i = 0; i < MAX_CHILDREN; i++) {
    if (table[i].pid == 0) return &table[i];
    if (!table[i].finished || table[i].pty >= 0) continue;
    if (!oldest || table[i].sequence < oldest->sequence) oldest = &table[i];
  }
  return oldest;
}

bool child_room(void) { return free_entry() != NULL; }

struct child *child_add(pid_t pid) {
  // The number may have been used before: then the old entry is about a program long gone.
  struct child *entry = child_find(pid);
  if (!entry) entry = free_entry();
  if (entry) *entry = (struct child){.pid = pid, .sequence = sequence++, .pty = -1, .pty_log = -1};
  return entry;
}

struct child *child_find(pid_t pid) {
  for (size_t i = 0; pid > 0 && i < MAX_CHILDREN; i++)
    if (table[i].pid == pid) return &table[i];
  return NULL;
}

void child_remove(struct child *child) { *child = (struct child){.pid = 0}; }

bool children_reap(int limit, void (*called)(struct child *)) {
  for (int i = 0; i < limit; i++) {
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return true;
    struct child *child = child_find(pid);
    if (!child || child->finished) continue;
    child->finished = true;
    child->status = status;
    called(child);
  }
  return false;
}
