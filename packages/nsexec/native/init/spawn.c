#include "spawn.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>

#include "sys.h"

enum { STEP_STDIO, STEP_PTY, STEP_IDS, STEP_CWD, STEP_EXEC };
static const char *const STEP_NAMES[] = {"stdio", "pty", "ids", "cwd", "exec"};

const char *spawn_step(int32_t step) {
  return step >= STEP_STDIO && step <= STEP_EXEC ? STEP_NAMES[step] : "spawn";
}

_Noreturn static void give_up(int result, int32_t step) {
  struct spawn_fault fault = {.step = step, .error = errno};
  (void)!write(result, &fault, sizeof fault);
  _exit(127);
}

// Opened by root, so nobody else may choose where the path leads: no links at all (RESOLVE_NO_SYMLINKS),
// and never a wait (a FIFO without a reader gives ENXIO).
static int open_stdio(const char *path, int number) {
  if (*path == 0) path = "/dev/null";
  uint64_t how = number == 0 ? O_RDONLY : O_WRONLY | O_APPEND | O_CREAT;
  int fd = sys_openat2(AT_FDCWD, path, how | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, number == 0 ? 0 : 0644,
                       RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
  struct stat st;
  if (fd < 0 || fstat(fd, &st) < 0) return -1;
  if (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode)) {
    close(fd);
    errno = EINVAL;
    return -1;
  }
  if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0) return -1;
  return fd;
}

// In the child fds 0, 1, 2 are init's own /dev/null: what is opened lands above them, then replaces them.
static void attach_files(const struct spawn_request *request, int result) {
  for (int number = 0; number < 3; number++) {
    // One file for both outputs is opened once, so that they do not write over each other.
    bool same = number == 2 && *request->stdio[2] && strcmp(request->stdio[1], request->stdio[2]) == 0;
    int fd = same ? 1 : open_stdio(request->stdio[number], number);
    if (fd < 0 || dup2(fd, number) < 0) give_up(result, STEP_STDIO);
    if (fd > 2) close(fd);
  }
}

static void attach_pty(int slave, const struct spawn_request *request, int result) {
  if (ioctl(slave, TIOCSCTTY, 0) < 0) give_up(result, STEP_PTY);
  for (int number = 0; number < 3; number++)
    if (dup2(slave, number) < 0) give_up(result, STEP_PTY);
  // As login does it: a program that reopens its terminal by name must be allowed to.
  if (fchown(slave, request->uid, (gid_t)-1) < 0) give_up(result, STEP_PTY);
}

static void take_ids(const struct spawn_request *request, int result) {
  if (setgroups(request->group_count, request->groups) < 0) give_up(result, STEP_IDS);
  if (setresgid(request->gid, request->gid, request->gid) < 0) give_up(result, STEP_IDS);
  if (setresuid(request->uid, request->uid, request->uid) < 0) give_up(result, STEP_IDS);
}

static const char *search_path(char **env) {
  for (; *env; env++)
    if (strncmp(*env, "PATH=", 5) == 0) return *env;
  return "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
}

_Noreturn static void run_child(const struct spawn_request *request, int slave, int result) {
  sigset_t none;
  sigemptyset(&none);
  setsid();
  if (request->pty) attach_pty(slave, request, result);
  else attach_files(request, result);
  take_ids(request, result);
  if (chdir(request->cwd) < 0) give_up(result, STEP_CWD);
  // execvpe searches the PATH of this process, so it is given the program's own first.
  if (putenv((char *)(uintptr_t)search_path(request->env)) != 0) give_up(result, STEP_EXEC);
  // An ignored signal stays ignored over exec: the launcher's caller may have left some.
  for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execvpe(request->argv[0], request->argv, request->env);
  give_up(result, STEP_EXEC);
}

static void close_all(int *fds, size_t count) {
  int error = errno;
  for (size_t i = 0; i < count; i++)
    if (fds[i] >= 0) close(fds[i]);
  errno = error;
}

// Master and slave of a new pty of this root's own devpts.
static bool open_pty(const struct spawn_request *request, int *master, int *slave, int *log) {
  int unlock = 0;
  struct winsize size = {.ws_row = request->rows, .ws_col = request->columns};
  *master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (*master < 0 || ioctl(*master, TIOCSPTLCK, &unlock) < 0 || ioctl(*master, TIOCSWINSZ, &size) < 0) return false;
  *slave = ioctl(*master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*slave < 0) return false;
  *log = open_stdio(request->stdio[1], 1);
  return *log >= 0;
}

bool spawn_start(const struct spawn_request *request, struct spawned *spawned) {
  // 0, 1 result pipe; 2 master, 3 slave, 4 log
  int fds[5] = {-1, -1, -1, -1, -1};
  pid_t pid = -1;
  if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0 &&
      (!request->pty || open_pty(request, &fds[2], &fds[3], &fds[4])))
    pid = fork();
  if (pid < 0) {
    close_all(fds, 5);
    return false;
  }
  if (pid == 0) run_child(request, fds[3], fds[1]);
  close(fds[1]);
  if (fds[3] >= 0) close(fds[3]);
  *spawned = (struct spawned){.pid = pid, .result = fds[0], .pty = fds[2], .pty_log = fds[4]};
  return true;
}
