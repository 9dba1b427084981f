#include "corpus.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static const struct corpus_case *const tables[] = {
    anonymous_cases, device_cases, file_cases,  inet_cases, ipc_cases,      lock_cases, memory_cases,
    mount_cases,     namespace_cases, queue_cases, task_cases, terminal_cases, unix_cases, watch_cases,
};

static char text[512];
/* Opened before a case may change root, mounts or rights. */
static int folder_fd;

/* Whole or not at all: the reader never sees half an answer. */
static void say(const char *name, const char *format, const char *first, const char *second) {
  char whole[sizeof text + 64];
  int length = snprintf(whole, sizeof whole, format, first, second);
  int fd = openat(folder_fd, "new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0 || write(fd, whole, (size_t)length) != length || close(fd) < 0) _exit(3);
  if (renameat(folder_fd, "new", folder_fd, name) < 0) _exit(4);
}

static _Noreturn void wait_for_ever(void) {
  for (;;) pause();
}

long must_say(long value, const char *call) {
  if (value >= 0) return value;
  say("ready", "unavailable: %s: %s", call, strerror(errno));
  wait_for_ever();
}

const char *lost(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

int file_with(const char *path, const char *content) {
  int fd = (int)must(open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  must(write(fd, content, strlen(content)));
  return fd;
}

int reads(int fd, const char *expected) {
  char found[4096];
  struct pollfd wanted = {.fd = fd, .events = POLLIN};
  if (poll(&wanted, 1, 1000) <= 0) return 0;
  ssize_t length = read(fd, found, sizeof found);
  return length == (ssize_t)strlen(expected) && memcmp(found, expected, (size_t)length) == 0;
}

/* A file of /proc gives its text in pieces. */
int file_holds(const char *path, const char *wanted) {
  static char found[1 << 18];
  size_t total = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  for (ssize_t length; (length = read(fd, found + total, sizeof found - 1 - total)) > 0;) total += (size_t)length;
  close(fd);
  found[total] = 0;
  return strstr(found, wanted) != NULL;
}

pid_t child_that(void (*act)(void)) {
  int done[2];
  must(pipe2(done, O_CLOEXEC));
  pid_t pid = (pid_t)must(fork());
  if (pid == 0) {
    act();
    if (write(done[1], "x", 1) != 1) _exit(5);
    close(done[0]);
    close(done[1]);
    wait_for_ever();
  }
  close(done[1]);
  char said;
  must(read(done[0], &said, 1) - 1);
  close(done[0]);
  return pid;
}

static void nothing(void) {}

pid_t idle_child(void) { return child_that(nothing); }

const char *lives_on(void) { return NULL; }

static const struct corpus_case *find(const char *name) {
  for (size_t table = 0; table < sizeof tables / sizeof *tables; table++)
    for (const struct corpus_case *one = tables[table]; one->name; one++)
      if (strcmp(one->name, name) == 0) return one;
  return NULL;
}

static int list(void) {
  for (size_t table = 0; table < sizeof tables / sizeof *tables; table++)
    for (const struct corpus_case *one = tables[table]; one->name; one++) puts(one->name);
  return 0;
}

/* Only its coming counts, and that it interrupts nothing a case waits in. */
static volatile sig_atomic_t told;
static void on_told(int number) { told = number; }

static int run(const struct corpus_case *one) {
  folder_fd = open("/corpus", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_fd < 0) return 2;
  struct sigaction action = {.sa_handler = on_told};
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, SIGUSR1);
  sigprocmask(SIG_BLOCK, &own, NULL);
  sigaction(SIGUSR1, &action, NULL);
  one->set_up();
  say("ready", "%s%s", "ready", "");
  /* What the case blocks stays blocked. */
  sigprocmask(SIG_BLOCK, NULL, &own);
  sigdelset(&own, SIGUSR1);
  while (!told) sigsuspend(&own);
  const char *missing = one->check();
  say("result", "%s%s", missing ? "lost: " : "held", missing ? missing : "");
  wait_for_ever();
}

/* Hands for what must come from outside the session; they run on the host. */

static int trace(pid_t pid) {
  if (ptrace(PTRACE_SEIZE, pid, 0, 0) < 0) return 6;
  puts("done");
  fflush(stdout);
  wait_for_ever();
}

/* Joins a session's namespaces as a process that does not descend from its init. */
static int enter(pid_t pid, const char *socket_path) {
  char path[64];
  static const char *const kinds[] = {"cgroup", "ipc", "uts", "net", "pid", "mnt"};
  int fds[6];
  for (int at = 0; at < 6; at++) {
    snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, kinds[at]);
    if ((fds[at] = open(path, O_RDONLY | O_CLOEXEC)) < 0) return 7;
  }
  for (int at = 0; at < 6; at++)
    if (setns(fds[at], 0) < 0) return 8;
  pid_t child = fork();
  if (child != 0) {
    int status;
    waitpid(child, &status, 0);
    return 0;
  }
  if (socket_path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, socket_path, sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) return 9;
  }
  puts("done");
  fflush(stdout);
  wait_for_ever();
}

/* PID 1 of a session without init: the root is mounted, and this leaves the host behind. Its stdio stays. */
static int pivot(const char *root, char *name) {
  char *const again[] = {"corpus", name, NULL};
  if (chdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0) return 10;
  if (chdir("/") < 0) return 10;
  execv("/usr/bin/corpus", again);
  return 10;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "list") == 0) return list();
  if (argc == 3 && strcmp(argv[1], "trace") == 0) return trace(atoi(argv[2]));
  if (argc >= 3 && strcmp(argv[1], "enter") == 0) return enter(atoi(argv[2]), argc > 3 ? argv[3] : NULL);
  if (argc >= 2 && strncmp(argv[1], "--", 2) == 0) wait_for_ever();
  if (argc == 4 && strcmp(argv[1], "pivot") == 0) return pivot(argv[2], argv[3]);
  const struct corpus_case *one = argc == 2 ? find(argv[1]) : NULL;
  return one ? run(one) : 2;
}
