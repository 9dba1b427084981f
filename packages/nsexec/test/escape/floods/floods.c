// floods forks|descriptors|file PATH|files FOLDER: takes all that there is of one thing, prints how much and the errno that
// ended it, and holds on to it until it is killed.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void hold(long amount) {
  printf("%ld %d\n", amount, errno);
  fflush(stdout);
  for (;;) pause();
}

static void forks(void) {
  long count = 0;
  for (pid_t pid; (pid = fork()) >= 0; count++)
    if (pid == 0)
      for (;;) pause();
  hold(count);
}

static void descriptors(void) {
  long count = 0;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  while (open("/dev/null", O_RDONLY) >= 0) count++;
  hold(count);
}

static void file(const char *path) {
  static char block[1 << 20];
  long bytes = 0;
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  memset(block, 'x', sizeof block);
  for (ssize_t wrote; (wrote = write(fd, block, sizeof block)) > 0;) bytes += wrote;
  hold(bytes);
}

static void files(const char *folder) {
  long count = 0;
  char path[300];
  if (mkdir(folder, 0700) < 0) hold(0);
  for (int fd;; count++) {
    snprintf(path, sizeof path, "%s/%ld", folder, count);
    if ((fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600)) < 0) hold(count);
    close(fd);
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "forks") == 0) forks();
  if (argc == 2 && strcmp(argv[1], "descriptors") == 0) descriptors();
  if (argc == 3 && strcmp(argv[1], "file") == 0) file(argv[2]);
  if (argc == 3 && strcmp(argv[1], "files") == 0) files(argv[2]);
  return 2;
}
