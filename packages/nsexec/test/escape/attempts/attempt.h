// Attempts to get out of a session, or to change what lies outside. Each gives 0 where it succeeded, an errno where it
// was refused; ENODATA where it was let in and found nothing.
#pragma once
#include <errno.h>
#include <stddef.h>

struct attempt {
  const char *name;
  int (*run)(void);
};

struct attempts {
  const struct attempt *list;
  size_t count;
};

// What the host set up for the attempts to find: see main.c.
struct bait {
  int host_pid;
  int host_port;
  const char *host_name;  // of an abstract socket
  const char *host_word;  // in the command line of a process of the host
};
extern struct bait bait;

extern const struct attempts SETTINGS, DEVICES, MOUNTS, NAMESPACES, PROCESSES, KERNEL, NETWORK, FILES;

// errno of a call that gives -1 when it fails, else 0.
static inline int refusal(long result) { return result < 0 ? errno : 0; }
