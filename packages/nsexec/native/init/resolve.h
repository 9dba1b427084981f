// Paths of a plan are looked up inside a root by the kernel (openat2 RESOLVE_IN_ROOT), never by ourselves.
#pragma once
#include <sys/types.h>

// An O_PATH descriptor of PATH inside ROOT. A last component that is a symbolic link gives ELOOP, any
// other failure the kernel's errno; -1 either way.
int resolve_target(int root, const char *path);

// An O_PATH descriptor of PATH's parent folder inside ROOT, and the last component in NAME (a pointer
// into PATH). -1 with EINVAL for "/".
int resolve_parent(int root, const char *path, const char **name);

// "/proc/self/fd/N" for calls that take paths only; BUFFER holds at least 32 bytes.
const char *fd_path(int fd, char *buffer);
