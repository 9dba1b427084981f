// User namespaces: id maps from outside, ids from inside.
#pragma once
#include <sys/types.h>

#include "plan.h"

// Writes `0 BASE SIZE` as the uid and gid map of PID. The writer is root, so setgroups stays allowed.
void ids_write_maps(pid_t pid, const struct plan *plan);

// A descriptor of a user namespace that holds the plan's map and no process: for id-mapped mounts.
int ids_map_namespace(const struct plan *plan);

// Becomes UID and GID with exactly these supplementary groups.
void ids_become(uid_t uid, gid_t gid, const gid_t *groups, size_t count);

// A change of ids gives /proc/self to the host's root; this gives it back to the process.
void ids_own_proc(void);
