#include "server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "answers.h"
#include "children.h"
#include "fail.h"
#include "protocol.h"
#include "requests.h"
#include "sys.h"

enum { MAX_OTHERS = 160, MAX_FDS = 2 + MAX_CONNECTIONS + MAX_OTHERS, REAP_AT_ONCE = 512, PAUSE_MS = 100 };

int server_listen(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SERVER_SOCKET};
  if (mkdir(SERVER_FOLDER, 0755) < 0 && errno != EEXIST) fail("listen", SERVER_FOLDER);
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) fail("listen", "socket");
  mode_t mask = umask(0177);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) fail("listen", SERVER_SOCKET);
  umask(mask);
  if (listen(fd, 64) < 0) fail("listen", SERVER_SOCKET);
  return fd;
}

// Takes all that wait, as far as there are places. False where accept failed for a reason that stays (no
// descriptor, no memory): the caller then pauses, because the listener would be readable again at once.
static bool accept_waiting(int listener) {
  while (!connections_full()) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return errno == EAGAIN || errno == ECONNABORTED || errno == EINTR;
    connection_add(fd);
  }
  return true;
}

static void read_connection(int connection) {
  static char bytes[PACKET_MAX];
  struct iovec part = {.iov_base = bytes, .iov_len = sizeof bytes};
  // No room for control messages: descriptors that a client attaches are dropped by the kernel.
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  ssize_t length = recvmsg(connection_fd(connection), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (length <= 0 || message.msg_flags & MSG_TRUNC) return connection_close(connection);
  request_handle(connection, bytes, (size_t)length);
}

static int watch_children(void) {
  sigset_t all, children;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  int fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) fail("listen", "signalfd");
  return fd;
}

static void read_signals(int signals) {
  struct signalfd_siginfo info[16];
  while (read(signals, info, sizeof info) > 0) continue;
}

struct round {
  struct pollfd fds[MAX_FDS];
  int connections[MAX_CONNECTIONS];  // which connection each of fds[2…] is
  size_t connection_count, count;
};

static void gather(struct round *round, int signals, int listener, bool accepting) {
  round->fds[0] = (struct pollfd){.fd = signals, .events = POLLIN};
  round->fds[1] = (struct pollfd){.fd = accepting && !connections_full() ? listener : -1, .events = POLLIN};
  round->count = 2;
  round->connection_count = 0;
  for (int i = 0; i < MAX_CONNECTIONS; i++) {
    if (connection_fd(i) < 0) continue;
    round->connections[round->connection_count++] = i;
    round->fds[round->count++] = (struct pollfd){.fd = connection_fd(i), .events = POLLIN};
  }
  round->count += request_poll_add(round->fds + round->count, MAX_OTHERS);
}

static void serve(struct round *round) {
  for (size_t i = 2; i < round->count; i++) {
    if (!round->fds[i].revents) continue;
    size_t at = i - 2;
    if (at >= round->connection_count) request_poll_done(&round->fds[i]);
    // An answer sent in this round may have closed the connection already.
    else if (connection_fd(round->connections[at]) == round->fds[i].fd) read_connection(round->connections[at]);
  }
}

_Noreturn void server_run(int listener) {
  static struct round round;
  int signals = watch_children();
  connections_reset();
  bool accepting = true, reaped = false;
  for (;;) {
    gather(&round, signals, listener, accepting);
    int timeout = !reaped ? 0 : accepting ? -1 : PAUSE_MS;
    // EINTR, also the one after a restore: another round.
    if (poll(round.fds, round.count, timeout) < 0) round.count = 0;
    if (round.count && round.fds[0].revents) read_signals(signals);
    serve(&round);
    reaped = children_reap(REAP_AT_ONCE, request_child_finished);
    accepting = round.count < 2 || !round.fds[1].revents || accept_waiting(listener);
  }
}
