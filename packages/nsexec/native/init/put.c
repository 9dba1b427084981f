#include "put.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int fd, const char *text, size_t length) {
  while (length > 0) {
    ssize_t wrote = write(fd, text, length);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    text += wrote;
    length -= (size_t)wrote;
  }
  return true;
}

bool put_file(const char *path, mode_t mode, const char *text) {
  char fresh[PATH_MAX];
  if ((size_t)snprintf(fresh, sizeof fresh, "%s.new", path) >= sizeof fresh) {
    errno = ENAMETOOLONG;
    return false;
  }
  // What a program of the session put there is not written through: O_EXCL follows no link and opens no fifo.
  if (unlink(fresh) < 0 && errno != ENOENT) return false;
  int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  bool whole = write_all(fd, text, strlen(text)) && fchmod(fd, mode) == 0;
  if (close(fd) < 0) whole = false;
  if (whole && rename(fresh, path) == 0) return true;
  int error = errno;
  unlink(fresh);
  errno = error;
  return false;
}

bool overwrite_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  struct stat found;
  bool whole = fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && write_all(fd, text, strlen(text));
  int error = errno;
  if (close(fd) < 0) whole = false;
  errno = error;
  return whole;
}
