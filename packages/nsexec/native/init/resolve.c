#include "resolve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sys.h"

enum { IN_ROOT = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };

int resolve_target(int root, const char *path) {
  int fd = sys_openat2(root, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, IN_ROOT);
  struct stat st;
  if (fd < 0 || fstat(fd, &st) < 0) return -1;
  if (!S_ISLNK(st.st_mode)) return fd;
  close(fd);
  errno = ELOOP;
  return -1;
}

int resolve_parent(int root, const char *path, const char **name) {
  const char *slash = strrchr(path, '/');
  if (!slash || slash[1] == 0) {
    errno = EINVAL;
    return -1;
  }
  *name = slash + 1;
  char *parent = slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
  if (!parent) return -1;
  int fd = sys_openat2(root, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, IN_ROOT);
  free(parent);
  return fd;
}

const char *fd_path(int fd, char *buffer) {
  snprintf(buffer, 32, "/proc/self/fd/%d", fd);
  return buffer;
}
