// What a process sees of a dump and restore: locks that it holds, and how far each clock and timer jumps.
// SIGUSR1: writes /locks (each kind of lock as another process sees it) and /clocks (the largest jump of each).
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REALTIME, MONOTONIC, BOOTTIME, TIMER_REALTIME, TIMER_MONOTONIC, TIMER_BOOTTIME, COUNT };
static const char *const NAMES[COUNT] = {"realtime",       "monotonic",       "boottime",
                                         "timer-realtime", "timer-monotonic", "timer-boottime"};
static const clockid_t CLOCKS[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME};
enum { FAR_SECONDS = 100000 };

static volatile sig_atomic_t asked;
static void ask(int number) {
  (void)number;
  asked = 1;
}

static int64_t microseconds(struct timespec time) {
  return time.tv_sec * 1000000ll + time.tv_nsec / 1000;
}

// A clock as it is, or how much of a timer is over: both go up with time.
static int64_t now(int which, const int *timers) {
  struct timespec time;
  if (which < TIMER_REALTIME) {
    clock_gettime(CLOCKS[which], &time);
    return microseconds(time);
  }
  struct itimerspec left;
  timerfd_gettime(timers[which - TIMER_REALTIME], &left);
  return FAR_SECONDS * 1000000ll - microseconds(left.it_value);
}

static struct flock whole(void) {
  return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

static void tell_locks(void) {
  if (fork() != 0) {
    wait(NULL);
    return;
  }
  FILE *out = fopen("/locks.new", "w");
  struct flock posix = whole(), ofd = whole();
  fcntl(open("/posix", O_RDWR), F_GETLK, &posix);
  fcntl(open("/ofd", O_RDWR), F_OFD_GETLK, &ofd);
  int flocked = flock(open("/flock", O_RDWR), LOCK_EX | LOCK_NB) < 0;
  fprintf(out, "posix %s\nofd %s\nflock %s\n", posix.l_type == F_UNLCK ? "lost" : "held",
          ofd.l_type == F_UNLCK ? "lost" : "held", flocked ? "held" : "lost");
  fclose(out);
  rename("/locks.new", "/locks");
  _exit(0);
}

static void tell_clocks(const int64_t *jumps) {
  FILE *out = fopen("/clocks.new", "w");
  for (int which = 0; which < COUNT; which++) fprintf(out, "%s %lld\n", NAMES[which], (long long)jumps[which]);
  fclose(out);
  rename("/clocks.new", "/clocks");
}

int main(void) {
  int timers[3];
  int64_t last[COUNT], jumps[COUNT] = {0};
  struct itimerspec far = {.it_value.tv_sec = FAR_SECONDS};
  struct flock posix = whole(), ofd = whole();
  fcntl(open("/posix", O_RDWR | O_CREAT, 0600), F_SETLK, &posix);
  fcntl(open("/ofd", O_RDWR | O_CREAT, 0600), F_OFD_SETLK, &ofd);
  flock(open("/flock", O_RDWR | O_CREAT, 0600), LOCK_EX);
  for (int which = 0; which < 3; which++) {
    timers[which] = timerfd_create(CLOCKS[which], 0);
    timerfd_settime(timers[which], 0, &far, NULL);
  }
  signal(SIGUSR1, ask);
  for (int which = 0; which < COUNT; which++) last[which] = now(which, timers);
  creat("/running", 0600);
  for (;;) {
    for (int which = 0; which < COUNT; which++) {
      int64_t time = now(which, timers);
      if (time - last[which] > jumps[which]) jumps[which] = time - last[which];
      last[which] = time;
    }
    if (asked) {
      asked = 0;
      tell_locks();
      tell_clocks(jumps);
    }
    usleep(1000);
  }
}
