#include "corpus.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

static int fd;

/* POSIX locks are a process's own: another must ask. */
static int held_against_child(struct flock *wanted) {
  int status;
  pid_t asker = (pid_t)must(fork());
  if (asker == 0) {
    int own = open("/home/lock", O_RDWR);
    _exit(fcntl(own, F_SETLK, wanted) < 0 ? 0 : 1);
  }
  must(waitpid(asker, &status, 0));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void lock_posix_set_up(void) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 3, .l_len = 5};
  fd = file_with("/home/lock", "0123456789");
  must(fcntl(fd, F_SETLK, &whole));
}
static const char *lock_posix_check(void) {
  struct flock inside = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 4, .l_len = 1};
  struct flock beside = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 2};
  if (!held_against_child(&inside)) return lost("the lock");
  return held_against_child(&beside) ? lost("the lock's range") : NULL;
}

static void lock_flock_set_up(void) {
  fd = file_with("/home/lock", "x");
  must(flock(fd, LOCK_EX));
}
static const char *lock_flock_check(void) {
  int own = open("/home/lock", O_RDWR);
  return flock(own, LOCK_EX | LOCK_NB) < 0 ? NULL : lost("the lock");
}

static void lock_ofd_set_up(void) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  fd = file_with("/home/lock", "x");
  must(fcntl(fd, F_OFD_SETLK, &whole));
}
static const char *lock_ofd_check(void) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int own = open("/home/lock", O_RDWR);
  return fcntl(own, F_OFD_SETLK, &whole) < 0 ? NULL : lost("the lock");
}

static void lock_lease_set_up(void) {
  close(file_with("/home/lock", "x"));
  fd = (int)must(open("/home/lock", O_RDONLY));
  must(fcntl(fd, F_SETLEASE, F_RDLCK));
}
static const char *lock_lease_check(void) { return fcntl(fd, F_GETLEASE) == F_RDLCK ? NULL : lost("the lease"); }

/* One waits for what the other holds. */
static void wait_for_lock(void) {
  if (fork() == 0) {
    int own = open("/home/lock", O_RDWR);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    fcntl(own, F_SETLKW, &whole);
    close(file_with("/home/got", "x"));
    for (;;) pause();
  }
}
static void lock_waited_for_set_up(void) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  fd = file_with("/home/lock", "x");
  must(fcntl(fd, F_SETLK, &whole));
  wait_for_lock();
  usleep(100000);
}
static const char *lock_waited_for_check(void) {
  struct flock none = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  if (access("/home/got", F_OK) == 0) return lost("the lock was given away");
  fcntl(fd, F_SETLK, &none);
  for (int turn = 0; turn < 100 && access("/home/got", F_OK) < 0; turn++) usleep(10000);
  return access("/home/got", F_OK) == 0 ? NULL : lost("the one that waited got nothing");
}

const struct corpus_case lock_cases[] = {
    CASE(lock_posix), CASE(lock_flock), CASE(lock_ofd), CASE(lock_lease), CASE(lock_waited_for), {0},
};
