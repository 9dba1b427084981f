#include "corpus.h"

#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/landlock.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

static int fd, other, ends[2];
static pid_t child;
static char *map;

static void eventfd_counter_set_up(void) { fd = (int)must(eventfd(7, 0)); }
static const char *eventfd_counter_check(void) {
  eventfd_t value = 0;
  return eventfd_read(fd, &value) == 0 && value == 7 ? NULL : lost("the counter is %llu", (unsigned long long)value);
}

static void timerfd_set_set_up(void) {
  struct itimerspec wanted = {.it_value.tv_sec = 3600};
  fd = (int)must(timerfd_create(CLOCK_MONOTONIC, 0));
  must(timerfd_settime(fd, 0, &wanted, NULL));
}
static const char *timerfd_set_check(void) {
  struct itimerspec found;
  must(timerfd_gettime(fd, &found));
  return found.it_value.tv_sec > 3000 && found.it_value.tv_sec <= 3600 ? NULL : lost("the time that was left");
}

static void timerfd_cancel_set_up(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  struct itimerspec wanted = {.it_value.tv_sec = now.tv_sec + 3600};
  fd = (int)must(timerfd_create(CLOCK_REALTIME, 0));
  must(timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &wanted, NULL));
}
static const char *timerfd_cancel_check(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  return file_holds(path, "settime flags: 03") ? NULL : lost("cancellation when the clock is set");
}

static void signalfd_pending_set_up(void) {
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGUSR2);
  sigprocmask(SIG_BLOCK, &held, NULL);
  fd = (int)must(signalfd(-1, &held, SFD_NONBLOCK));
  must(kill(getpid(), SIGUSR2));
}
static const char *signalfd_pending_check(void) {
  struct signalfd_siginfo found;
  return read(fd, &found, sizeof found) == sizeof found && found.ssi_signo == SIGUSR2 ? NULL : lost("the signal");
}

static void watch_pipe(int epoll) {
  struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = 42};
  must(pipe(ends));
  must(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &wanted));
  must(write(ends[1], "x", 1));
}
static const char *epoll_tells(int epoll) {
  struct epoll_event found;
  return epoll_wait(epoll, &found, 1, 1000) == 1 && found.data.u64 == 42 ? NULL : lost("the event");
}
static void epoll_plain_set_up(void) {
  fd = (int)must(epoll_create1(0));
  watch_pipe(fd);
}
static const char *epoll_plain_check(void) { return epoll_tells(fd); }

static void epoll_nested_set_up(void) {
  struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = 42};
  fd = (int)must(epoll_create1(0));
  other = (int)must(epoll_create1(0));
  watch_pipe(fd);
  must(epoll_ctl(other, EPOLL_CTL_ADD, fd, &wanted));
}
static const char *epoll_nested_check(void) { return epoll_tells(other); }

/* What is watched was closed under its number and lives on under another. */
static void epoll_closed_set_up(void) {
  epoll_plain_set_up();
  must(dup(ends[0]));
  must(close(ends[0]));
}
#define epoll_closed_check epoll_plain_check

static void pidfd_child_set_up(void) {
  child = idle_child();
  fd = (int)must(syscall(SYS_pidfd_open, child, 0));
}
static const char *pidfd_child_check(void) {
  int status;
  if (syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) < 0) return lost("the process behind the descriptor");
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status) ? NULL : lost("the signal");
}

static void pidfd_self_set_up(void) { fd = (int)must(syscall(SYS_pidfd_open, getpid(), 0)); }
static const char *pidfd_self_check(void) {
  return syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0 ? NULL : lost("the process behind the descriptor");
}

static void pidfd_dead_set_up(void) {
  pidfd_child_set_up();
  kill(child, SIGKILL);
  must(waitpid(child, NULL, 0));
}
static const char *pidfd_dead_check(void) {
  struct pollfd ended = {.fd = fd, .events = POLLIN};
  return poll(&ended, 1, 0) == 1 ? NULL : lost("that the process has ended");
}

static void pidfd_thread_set_up(void) { fd = (int)must(syscall(SYS_pidfd_open, getpid(), PIDFD_THREAD)); }
#define pidfd_thread_check pidfd_self_check

static void io_uring_set_up(void) {
  struct io_uring_params parameters = {0};
  fd = (int)must(syscall(SYS_io_uring_setup, 8, &parameters));
}
#define io_uring_check lives_on

static unsigned long aio;
static void aio_context_set_up(void) { must(syscall(SYS_io_setup, 4, &aio)); }
static const char *aio_context_check(void) {
  struct timespec none = {0};
  char events[32];
  return syscall(SYS_io_getevents, aio, 0, 1, events, &none) == 0 ? NULL : lost("the context");
}

static void userfaultfd_set_up(void) { fd = (int)must(syscall(SYS_userfaultfd, O_NONBLOCK | 1)); }
#define userfaultfd_check lives_on

static void perf_event_set_up(void) {
  struct perf_event_attr wanted = {.type = PERF_TYPE_SOFTWARE, .size = sizeof wanted};
  fd = (int)must(syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0));
}
#define perf_event_check lives_on

static void bpf_map_set_up(void) {
  union bpf_attr wanted = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1};
  fd = (int)must(syscall(SYS_bpf, BPF_MAP_CREATE, &wanted, sizeof wanted));
}
static const char *bpf_map_check(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  return file_holds(path, "map_type") ? NULL : lost("the map");
}

static void bpf_program_set_up(void) {
  /* r0 = 0; exit */
  struct bpf_insn program[] = {{.code = 0xb7}, {.code = 0x95}};
  union bpf_attr wanted = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
                           .insn_cnt = 2,
                           .insns = (uintptr_t)program,
                           .license = (uintptr_t)"GPL"};
  fd = (int)must(syscall(SYS_bpf, BPF_PROG_LOAD, &wanted, sizeof wanted));
}
#define bpf_program_check lives_on

static void landlock_ruleset_set_up(void) {
  struct landlock_ruleset_attr wanted = {.handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE};
  fd = (int)must(syscall(SYS_landlock_create_ruleset, &wanted, sizeof wanted, 0));
}
#define landlock_ruleset_check lives_on

static int writes_home(void) {
  int tried = open("/home/forbidden", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (tried >= 0) close(tried);
  return tried >= 0;
}
/* Enforced, and the descriptor closed: nothing of it is to be seen but its effect. */
static void landlock_enforced_set_up(void) {
  struct landlock_ruleset_attr wanted = {.handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_SOCK};
  fd = (int)must(syscall(SYS_landlock_create_ruleset, &wanted, sizeof wanted, 0));
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  must(syscall(SYS_landlock_restrict_self, fd, 0));
  close(fd);
}
static const char *landlock_enforced_check(void) {
  return mknod("/home/socket", S_IFSOCK | 0600, 0) < 0 && writes_home() ? NULL : lost("the restriction");
}

static void memfd_set_up(void) {
  fd = (int)must(memfd_create("memory", 0));
  must(write(fd, "hello", 5));
  map = mmap(NULL, 5, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}
static const char *memfd_check(void) { return memcmp(map, "hello", 5) == 0 ? NULL : lost("the content"); }

static void sealed(int seals) {
  fd = (int)must(memfd_create("memory", MFD_ALLOW_SEALING));
  must(write(fd, "hello", 5));
  must(fcntl(fd, F_ADD_SEALS, seals));
}
static const char *has_seals(int seals) {
  char found[5];
  if (pread(fd, found, 5, 0) != 5 || memcmp(found, "hello", 5) != 0) return lost("the content");
  return fcntl(fd, F_GET_SEALS) == seals ? NULL : lost("the seals");
}
#define SHRINK_GROW (F_SEAL_SHRINK | F_SEAL_GROW)
static void memfd_sealed_size_mapped_set_up(void) {
  sealed(SHRINK_GROW);
  map = mmap(NULL, 5, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  must(map == MAP_FAILED ? -1 : 0);
}
static const char *memfd_sealed_size_mapped_check(void) { return has_seals(SHRINK_GROW); }

static void memfd_sealed_write_set_up(void) { sealed(SHRINK_GROW | F_SEAL_WRITE); }
static const char *memfd_sealed_write_check(void) { return has_seals(SHRINK_GROW | F_SEAL_WRITE); }

static void memfd_sealed_write_mapped_set_up(void) {
  sealed(SHRINK_GROW | F_SEAL_WRITE);
  map = mmap(NULL, 5, PROT_READ, MAP_SHARED, fd, 0);
  must(map == MAP_FAILED ? -1 : 0);
}
#define memfd_sealed_write_mapped_check memfd_sealed_write_check

static void memfd_sealed_write_private_set_up(void) {
  sealed(SHRINK_GROW | F_SEAL_WRITE);
  map = mmap(NULL, 5, PROT_READ, MAP_PRIVATE, fd, 0);
  must(map == MAP_FAILED ? -1 : 0);
}
#define memfd_sealed_write_private_check memfd_sealed_write_check

/* Not sealed; but mapped through a descriptor that may only read. */
static void memfd_read_only_mapped_set_up(void) {
  char path[64];
  sealed(SHRINK_GROW);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  other = (int)must(open(path, O_RDONLY));
  map = mmap(NULL, 5, PROT_READ, MAP_SHARED, other, 0);
  must(map == MAP_FAILED ? -1 : 0);
}
#define memfd_read_only_mapped_check memfd_sealed_size_mapped_check

static void memfd_secret_set_up(void) {
  fd = (int)must(syscall(SYS_memfd_secret, 0));
  must(ftruncate(fd, 4096));
}
#define memfd_secret_check lives_on

const struct corpus_case anonymous_cases[] = {
    CASE(eventfd_counter),
    CASE(timerfd_set),
    CASE(timerfd_cancel),
    CASE(signalfd_pending),
    CASE(epoll_plain),
    CASE(epoll_nested),
    CASE(epoll_closed),
    CASE(pidfd_child),
    CASE(pidfd_self),
    CASE(pidfd_dead),
    CASE(pidfd_thread),
    CASE(io_uring),
    CASE(aio_context),
    CASE(userfaultfd),
    CASE(perf_event),
    CASE(bpf_map),
    CASE(bpf_program),
    CASE(landlock_ruleset),
    CASE(landlock_enforced),
    CASE(memfd),
    CASE(memfd_sealed_size_mapped),
    CASE(memfd_sealed_write),
    CASE(memfd_sealed_write_mapped),
    CASE(memfd_sealed_write_private),
    CASE(memfd_read_only_mapped),
    CASE(memfd_secret),
    {0},
};
