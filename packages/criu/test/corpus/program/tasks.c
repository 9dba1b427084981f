#include "corpus.h"

#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static pid_t child;

static void task_zombie_set_up(void) {
  child = (pid_t)must(fork());
  if (child == 0) _exit(7);
  siginfo_t found;
  must(waitid(P_PID, (id_t)child, &found, WEXITED | WNOWAIT));
}
static const char *task_zombie_check(void) {
  int status;
  return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7 ? NULL : lost("how the child ended");
}

static void task_stopped_set_up(void) {
  child = idle_child();
  must(kill(child, SIGSTOP));
  must(waitpid(child, NULL, WUNTRACED));
}
static const char *task_stopped_check(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/status", child);
  return file_holds(path, "State:\tT") ? NULL : lost("that the child is stopped");
}

static void task_traced_set_up(void) {
  child = idle_child();
  must(ptrace(PTRACE_SEIZE, child, 0, 0));
}
#define task_traced_check lives_on

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int passed;
static void *pass(void *unused) {
  pthread_mutex_lock(&mutex);
  passed++;
  pthread_mutex_unlock(&mutex);
  return unused;
}
static pthread_t threads[20];
static void task_threads_set_up(void) {
  pthread_mutex_lock(&mutex);
  for (int at = 0; at < 20; at++) must(-pthread_create(&threads[at], NULL, pass, NULL));
  usleep(50000);
}
static const char *task_threads_check(void) {
  pthread_mutex_unlock(&mutex);
  for (int at = 0; at < 20; at++) pthread_join(threads[at], NULL);
  return passed == 20 ? NULL : lost("threads: %d of 20 passed", passed);
}

static void task_seccomp_set_up(void) {
  struct sock_filter allow[] = {{.code = BPF_LD | BPF_W | BPF_ABS, .k = 0},
                                {.code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 0, .jf = 1, .k = SYS_getppid},
                                {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ERRNO | 77},
                                {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW}};
  struct sock_fprog filter = {.len = 4, .filter = allow};
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
}
static const char *task_seccomp_check(void) {
  return syscall(SYS_getppid) == -1 && errno == 77 ? NULL : lost("the filter");
}

static int listener;
static void task_seccomp_listener_set_up(void) {
  struct sock_filter allow[] = {{.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW}};
  struct sock_fprog filter = {.len = 1, .filter = allow};
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  listener =
      (int)must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter));
}
#define task_seccomp_listener_check lives_on

static void task_affinity_set_up(void) {
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  CPU_SET(1, &wanted);
  must(sched_setaffinity(0, sizeof wanted, &wanted));
}
static const char *task_affinity_check(void) {
  cpu_set_t found;
  must(sched_getaffinity(0, sizeof found, &found));
  return CPU_COUNT(&found) == 1 && CPU_ISSET(1, &found) ? NULL : lost("the processors it may run on");
}

static void task_nice_set_up(void) { must(setpriority(PRIO_PROCESS, 0, 5)); }
static const char *task_nice_check(void) { return getpriority(PRIO_PROCESS, 0) == 5 ? NULL : lost("the nice value"); }

static void task_scheduler_set_up(void) {
  struct sched_param wanted = {.sched_priority = 3};
  must(sched_setscheduler(0, SCHED_FIFO, &wanted));
}
static const char *task_scheduler_check(void) {
  return sched_getscheduler(0) == SCHED_FIFO ? NULL : lost("the scheduling policy");
}

static void task_batch_set_up(void) {
  struct sched_param wanted = {0};
  must(sched_setscheduler(0, SCHED_BATCH, &wanted));
}
static const char *task_batch_check(void) {
  return sched_getscheduler(0) == SCHED_BATCH ? NULL : lost("the scheduling policy");
}

/* ioprio_set(2): class best effort (2), level 6, of this process (1). */
#define IO_PRIORITY (2 << 13 | 6)
static void task_io_priority_set_up(void) { must(syscall(SYS_ioprio_set, 1, 0, IO_PRIORITY)); }
static const char *task_io_priority_check(void) {
  return syscall(SYS_ioprio_get, 1, 0) == IO_PRIORITY ? NULL : lost("the I/O priority");
}

static void task_name_set_up(void) { must(prctl(PR_SET_NAME, "renamed", 0, 0, 0)); }
static const char *task_name_check(void) {
  return file_holds("/proc/self/comm", "renamed") ? NULL : lost("the name");
}

static void task_dumpable_set_up(void) { must(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)); }
static const char *task_dumpable_check(void) {
  return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? NULL : lost("that it leaves no core");
}

static void task_subreaper_set_up(void) { must(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)); }
static const char *task_subreaper_check(void) {
  int found = 0;
  must(prctl(PR_GET_CHILD_SUBREAPER, &found, 0, 0, 0));
  return found == 1 ? NULL : lost("that it reaps orphans");
}

static void task_death_signal_set_up(void) { must(prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0)); }
static const char *task_death_signal_check(void) {
  int found = 0;
  must(prctl(PR_GET_PDEATHSIG, &found, 0, 0, 0));
  return found == SIGTERM ? NULL : lost("the signal at its parent's death");
}

static void task_timer_slack_set_up(void) { must(prctl(PR_SET_TIMERSLACK, 1234567, 0, 0, 0)); }
static const char *task_timer_slack_check(void) {
  return prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) == 1234567 ? NULL : lost("the slack of timers");
}

static void task_huge_pages_off_set_up(void) { must(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)); }
static const char *task_huge_pages_off_check(void) {
  return prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1 ? NULL : lost("that it wants no huge pages");
}

static void write_text(const char *path, const char *text) {
  int fd = (int)must(open(path, O_WRONLY));
  must(write(fd, text, strlen(text)));
  close(fd);
}
static void task_oom_score_set_up(void) { write_text("/proc/self/oom_score_adj", "300"); }
static const char *task_oom_score_check(void) {
  return file_holds("/proc/self/oom_score_adj", "300") ? NULL : lost("the score");
}

static void task_limits_set_up(void) {
  struct rlimit wanted = {.rlim_cur = 512, .rlim_max = 1024};
  must(setrlimit(RLIMIT_NOFILE, &wanted));
}
static const char *task_limits_check(void) {
  struct rlimit found;
  must(getrlimit(RLIMIT_NOFILE, &found));
  return found.rlim_cur == 512 && found.rlim_max == 1024 ? NULL : lost("the limit on open files");
}

static void task_mask_set_up(void) { umask(0135); }
static const char *task_mask_check(void) { return umask(0) == 0135 ? NULL : lost("the mask"); }

static void task_user_set_up(void) {
  gid_t groups[] = {5, 1000};
  must(syscall(SYS_setgroups, 2, groups));
  must(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0));
  must(syscall(SYS_setresgid, 1000, 1000, 1000));
  must(syscall(SYS_setresuid, 1000, 1000, 0));
  must(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}
static const char *task_user_check(void) {
  uid_t real, effective, saved;
  must(getresuid(&real, &effective, &saved));
  return real == 1000 && effective == 1000 && saved == 0 && getgroups(0, NULL) == 2 ? NULL : lost("the ids");
}

static void task_signal_pending_set_up(void) {
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGRTMIN + 2);
  sigprocmask(SIG_BLOCK, &held, NULL);
  must(sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = 4711}));
}
static const char *task_signal_pending_check(void) {
  sigset_t held;
  siginfo_t found = {0};
  struct timespec none = {0};
  sigemptyset(&held);
  sigaddset(&held, SIGRTMIN + 2);
  return sigtimedwait(&held, &found, &none) > 0 && found.si_value.sival_int == 4711 ? NULL : lost("the signal");
}

static void task_alternate_stack_set_up(void) {
  static char stack[65536];
  stack_t wanted = {.ss_sp = stack, .ss_size = sizeof stack};
  must(sigaltstack(&wanted, NULL));
}
static const char *task_alternate_stack_check(void) {
  stack_t found;
  must(sigaltstack(NULL, &found));
  return found.ss_size == 65536 ? NULL : lost("the stack for signals");
}

static timer_t timer;
static void task_timer_set_up(void) {
  struct sigevent quiet = {.sigev_notify = SIGEV_NONE};
  struct itimerspec wanted = {.it_value.tv_sec = 3600};
  must(timer_create(CLOCK_MONOTONIC, &quiet, &timer));
  must(timer_settime(timer, 0, &wanted, NULL));
}
static const char *task_timer_check(void) {
  struct itimerspec found = {0};
  return timer_gettime(timer, &found) == 0 && found.it_value.tv_sec > 3000 ? NULL : lost("the timer");
}

static void task_interval_timer_set_up(void) {
  struct itimerval wanted = {.it_value.tv_sec = 3600};
  must(setitimer(ITIMER_REAL, &wanted, NULL));
}
static const char *task_interval_timer_check(void) {
  struct itimerval found = {0};
  must(getitimer(ITIMER_REAL, &found));
  return found.it_value.tv_sec > 3000 ? NULL : lost("the timer");
}


static struct timespec before;
static void task_clock_monotonic_set_up(void) { must(clock_gettime(CLOCK_MONOTONIC, &before)); }
static const char *task_clock_monotonic_check(void) {
  struct timespec now;
  must(clock_gettime(CLOCK_MONOTONIC, &now));
  return now.tv_sec >= before.tv_sec && now.tv_sec - before.tv_sec < 60 ? NULL : lost("that the clock goes on");
}

static void task_keyring_set_up(void) {
  must(syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL));
  must(syscall(SYS_add_key, "user", "corpus", "secret", 6, KEY_SPEC_SESSION_KEYRING));
}
static const char *task_keyring_check(void) {
  return syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", "corpus", 0) > 0
             ? NULL
             : lost("the key in the session keyring");
}

static void lead_and_leave(void) {
  setsid();
  if (fork() != 0) _exit(0);
  close(file_with("/home/member", "x"));
  for (;;) pause();
}
/* The leader of a terminal session has ended; a member lives on. */
static void task_leader_gone_set_up(void) {
  pid_t leader = (pid_t)must(fork());
  if (leader == 0) lead_and_leave();
  must(waitpid(leader, NULL, 0));
  for (int turn = 0; turn < 100 && access("/home/member", F_OK) < 0; turn++) usleep(10000);
}
#define task_leader_gone_check lives_on

static void task_vforked_set_up(void) {
  pid_t waiter = (pid_t)must(fork());
  if (waiter == 0) {
    if (vfork() == 0) for (;;) pause();
    _exit(0);
  }
  usleep(50000);
}
#define task_vforked_check lives_on

static void task_no_new_privileges_set_up(void) { must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)); }
static const char *task_no_new_privileges_check(void) {
  return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? NULL : lost("no_new_privs");
}

static void task_bounding_set_up(void) { must(prctl(PR_CAPBSET_DROP, 21, 0, 0, 0)); }
static const char *task_bounding_check(void) {
  return prctl(PR_CAPBSET_READ, 21, 0, 0, 0) == 0 ? NULL : lost("the bounding set");
}

const struct corpus_case task_cases[] = {
    CASE(task_zombie),
    CASE(task_stopped),
    CASE(task_traced),
    CASE(task_threads),
    CASE(task_seccomp),
    CASE(task_seccomp_listener),
    CASE(task_affinity),
    CASE(task_nice),
    CASE(task_scheduler),
    CASE(task_batch),
    CASE(task_io_priority),
    CASE(task_name),
    CASE(task_dumpable),
    CASE(task_subreaper),
    CASE(task_death_signal),
    CASE(task_timer_slack),
    CASE(task_huge_pages_off),
    CASE(task_oom_score),
    CASE(task_limits),
    CASE(task_mask),
    CASE(task_user),
    CASE(task_signal_pending),
    CASE(task_alternate_stack),
    CASE(task_timer),
    CASE(task_interval_timer),
    CASE(task_clock_monotonic),
    CASE(task_keyring),
    CASE(task_leader_gone),
    CASE(task_vforked),
    CASE(task_no_new_privileges),
    CASE(task_bounding),
    {0},
};
