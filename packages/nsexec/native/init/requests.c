#include "requests.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "answers.h"
#include "children.h"
#include "protocol.h"
#include "put.h"
#include "server.h"
#include "spawn.h"

enum { MAX_SPAWNING = 64, MAX_WAITING = 256, GROUPS_MAX = 64 };

static struct {
  int result;  // 0: a free entry (fd 0 is stdin)
  pid_t pid;
  struct asker asker;
} spawning[MAX_SPAWNING];

static struct {
  pid_t pid;  // 0: a free entry
  struct asker asker;
} waiting[MAX_WAITING];

static void add_status(struct answer *answer, const struct child *child) {
  bool exited = WIFEXITED(child->status);
  answer_text(answer, exited ? "exit" : "signal");
  answer_number(answer, exited ? WEXITSTATUS(child->status) : WTERMSIG(child->status));
}

static void answer_status(const struct asker *to, const struct child *child) {
  struct answer answer;
  answer_begin(&answer, to, "ok");
  add_status(&answer, child);
  answer_send(&answer);
}

void request_child_finished(struct child *child) {
  for (int i = 0; i < MAX_WAITING; i++) {
    if (waiting[i].pid != child->pid) continue;
    waiting[i].pid = 0;
    answer_status(&waiting[i].asker, child);
  }
}

// Fields of a spawn are taken one after another; a missing or bad one makes the whole request bad.
struct cursor {
  struct packet *packet;
  size_t at;
  bool bad;
};

static const char *take(struct cursor *cursor) {
  if (cursor->at < cursor->packet->count) return cursor->packet->fields[cursor->at++];
  cursor->bad = true;
  return "";
}

// MIN where the field is no number of the range: what is counted by it stays within bounds.
static long take_number(struct cursor *cursor, long min, long max) {
  long number = min;
  if (!packet_number(take(cursor), min, max, &number)) cursor->bad = true;
  return number;
}

// A count and that many fields, as a list that ends with NULL.
static char **take_list(struct cursor *cursor, char **list) {
  long count = take_number(cursor, 0, FIELDS_MAX);
  for (long i = 0; i < count; i++) list[i] = (char *)(uintptr_t)take(cursor);
  list[count] = NULL;
  return list;
}

static bool parse_spawn(struct packet *packet, struct spawn_request *request) {
  static gid_t groups[GROUPS_MAX];
  static char *argv[FIELDS_MAX + 1], *env[FIELDS_MAX + 1];
  struct cursor cursor = {.packet = packet, .at = 2};
  request->uid = (uid_t)take_number(&cursor, 0, 0xfffffffeL);
  request->gid = (gid_t)take_number(&cursor, 0, 0xfffffffeL);
  request->cwd = take(&cursor);
  for (int i = 0; i < 3; i++) request->stdio[i] = take(&cursor);
  request->pty = take_number(&cursor, 0, 1) == 1;
  request->rows = (unsigned short)take_number(&cursor, 0, 65535);
  request->columns = (unsigned short)take_number(&cursor, 0, 65535);
  request->group_count = (size_t)take_number(&cursor, 0, GROUPS_MAX);
  for (size_t i = 0; i < request->group_count; i++) groups[i] = (gid_t)take_number(&cursor, 0, 0xfffffffeL);
  request->groups = groups;
  request->argv = take_list(&cursor, argv);
  request->env = take_list(&cursor, env);
  return !cursor.bad && request->argv[0] != NULL && cursor.at == packet->count;
}

static int free_spawning(void) {
  for (int i = 0; i < MAX_SPAWNING; i++)
    if (spawning[i].result == 0) return i;
  return -1;
}

static void handle_spawn(const struct asker *asker, struct packet *packet) {
  struct spawn_request request;
  struct spawned spawned;
  int place = free_spawning();
  if (!parse_spawn(packet, &request)) return answer_error(asker, "protocol", EINVAL);
  if (place < 0 || !child_room()) return answer_error(asker, "spawn", EAGAIN);
  if (!spawn_start(&request, &spawned)) return answer_error(asker, "spawn", errno);
  struct child *child = child_add(spawned.pid);
  child->pty = spawned.pty;
  child->pty_log = spawned.pty_log;
  spawning[place].result = spawned.result;
  spawning[place].pid = spawned.pid;
  spawning[place].asker = *asker;
}

static void handle_wait(const struct asker *asker, struct packet *packet) {
  long pid;
  if (packet->count != 3 || !packet_number(packet->fields[2], 1, 1 << 30, &pid))
    return answer_error(asker, "protocol", EINVAL);
  struct child *child = child_find((pid_t)pid);
  if (!child) return answer_error(asker, "wait", ECHILD);
  if (child->finished) return answer_status(asker, child);
  for (int i = 0; i < MAX_WAITING; i++) {
    if (waiting[i].pid != 0) continue;
    waiting[i].pid = (pid_t)pid;
    waiting[i].asker = *asker;
    return;
  }
  answer_error(asker, "wait", EAGAIN);
}

static void handle_signal(const struct asker *asker, struct packet *packet) {
  long pid, number;
  // A negative number is a process group. Not 0, -1 or 1: a mistake in one must not end the session.
  if (packet->count != 4 || !packet_number(packet->fields[2], -(1 << 30), 1 << 30, &pid) ||
      !packet_number(packet->fields[3], 0, 64, &number) || (pid > -2 && pid < 2))
    return answer_error(asker, "protocol", EINVAL);
  if (kill((pid_t)pid, (int)number) < 0) return answer_error(asker, "signal", errno);
  answer_ok(asker);
}

static void handle_list(const struct asker *asker) {
  struct answer answer;
  struct child *table = child_table();
  answer_begin(&answer, asker, "ok");
  for (int i = 0; i < MAX_CHILDREN; i++) {
    if (table[i].pid == 0) continue;
    answer_number(&answer, table[i].pid);
    if (table[i].finished) {
      add_status(&answer, &table[i]);
    } else {
      answer_text(&answer, "running");
      answer_number(&answer, 0);
    }
  }
  answer_send(&answer);
}

// The host never writes in a session, so init itself removes what a captured run left beside the socket.
static void handle_remove(const struct asker *asker, struct packet *packet) {
  const char *name = packet->count == 3 ? packet->fields[2] : "";
  if (strncmp(name, "run-", 4) != 0 || strchr(name, '/')) return answer_error(asker, "protocol", EINVAL);
  int folder = open(SERVER_FOLDER, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 || unlinkat(folder, name, 0) < 0) answer_error(asker, "remove", errno);
  else answer_ok(asker);
  if (folder >= 0) close(folder);
}

// put PATH MODE TEXT: what the host may not do itself, and a shell would take six programs for.
static void handle_put(const struct asker *asker, struct packet *packet) {
  long mode;
  if (packet->count != 5 || packet->fields[2][0] != '/' || !packet_number(packet->fields[3], 0, 07777, &mode))
    return answer_error(asker, "protocol", EINVAL);
  if (put_file(packet->fields[2], (mode_t)mode, packet->fields[4])) answer_ok(asker);
  else answer_error(asker, "put", errno);
}

static void handle_overwrite(const struct asker *asker, struct packet *packet) {
  if (packet->count != 4 || packet->fields[2][0] != '/') return answer_error(asker, "protocol", EINVAL);
  if (overwrite_file(packet->fields[2], packet->fields[3])) answer_ok(asker);
  else answer_error(asker, "put", errno);
}

static struct child *pty_child(const struct packet *packet, size_t count) {
  long pid;
  if (packet->count != count || !packet_number(packet->fields[2], 2, 1 << 30, &pid)) return NULL;
  struct child *child = child_find((pid_t)pid);
  return child && child->pty >= 0 ? child : NULL;
}

static void handle_pty_write(const struct asker *asker, struct packet *packet) {
  struct child *child = pty_child(packet, 4);
  if (!child) return answer_error(asker, "pty", ENOTTY);
  size_t length = strlen(packet->fields[3]);
  ssize_t wrote = write(child->pty, packet->fields[3], length);
  if (wrote < 0) return answer_error(asker, "pty", errno);
  struct answer answer;
  answer_begin(&answer, asker, "ok");
  answer_number(&answer, wrote);
  answer_send(&answer);
}

static void handle_pty_resize(const struct asker *asker, struct packet *packet) {
  struct child *child = pty_child(packet, 5);
  long rows, columns;
  if (!child) return answer_error(asker, "pty", ENOTTY);
  if (!packet_number(packet->fields[3], 1, 65535, &rows) || !packet_number(packet->fields[4], 1, 65535, &columns))
    return answer_error(asker, "protocol", EINVAL);
  struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
  if (ioctl(child->pty, TIOCSWINSZ, &size) < 0) return answer_error(asker, "pty", errno);
  answer_ok(asker);
}

void request_handle(int connection, char *bytes, size_t length) {
  static struct packet packet;
  struct asker asker;
  // Without a readable id there is nobody to answer.
  if (!packet_split(&packet, bytes, length) || packet.count < 2 || !asker_of(&asker, connection, packet.fields[0]))
    return connection_close(connection);
  const char *verb = packet.fields[1];
  if (strcmp(verb, "ping") == 0) answer_ok(&asker);
  else if (strcmp(verb, "spawn") == 0) handle_spawn(&asker, &packet);
  else if (strcmp(verb, "wait") == 0) handle_wait(&asker, &packet);
  else if (strcmp(verb, "signal") == 0) handle_signal(&asker, &packet);
  else if (strcmp(verb, "list") == 0) handle_list(&asker);
  else if (strcmp(verb, "remove") == 0) handle_remove(&asker, &packet);
  else if (strcmp(verb, "put") == 0) handle_put(&asker, &packet);
  else if (strcmp(verb, "overwrite") == 0) handle_overwrite(&asker, &packet);
  else if (strcmp(verb, "pty-write") == 0) handle_pty_write(&asker, &packet);
  else if (strcmp(verb, "pty-resize") == 0) handle_pty_resize(&asker, &packet);
  else answer_error(&asker, "protocol", ENOSYS);
}

static void pty_close(struct child *child) {
  close(child->pty);
  close(child->pty_log);
  child->pty = child->pty_log = -1;
}

// EIO says that no process holds the slave any more. A full disk loses output, never the program's progress.
static void pty_drain(struct child *child) {
  char bytes[4096];
  ssize_t length = read(child->pty, bytes, sizeof bytes);
  if (length > 0) (void)!write(child->pty_log, bytes, (size_t)length);
  else if (length == 0 || errno != EAGAIN) pty_close(child);
}

static void spawn_settle(int place) {
  struct spawn_fault fault;
  ssize_t length = read(spawning[place].result, &fault, sizeof fault);
  if (length < 0 && errno == EAGAIN) return;
  struct child *child = child_find(spawning[place].pid);
  close(spawning[place].result);
  spawning[place].result = 0;
  if (length == (ssize_t)sizeof fault) {
    if (child && child->pty >= 0) pty_close(child);
    if (child) child_remove(child);
    return answer_error(&spawning[place].asker, spawn_step(fault.step), fault.error);
  }
  struct answer answer;
  answer_begin(&answer, &spawning[place].asker, "ok");
  answer_number(&answer, spawning[place].pid);
  answer_send(&answer);
}

size_t request_poll_add(struct pollfd *fds, size_t max) {
  size_t count = 0;
  struct child *table = child_table();
  for (int i = 0; i < MAX_SPAWNING && count < max; i++)
    if (spawning[i].result != 0) fds[count++] = (struct pollfd){.fd = spawning[i].result, .events = POLLIN};
  for (int i = 0; i < MAX_CHILDREN && count < max; i++)
    if (table[i].pid != 0 && table[i].pty >= 0) fds[count++] = (struct pollfd){.fd = table[i].pty, .events = POLLIN};
  return count;
}

void request_poll_done(const struct pollfd *fd) {
  struct child *table = child_table();
  for (int i = 0; i < MAX_SPAWNING; i++)
    if (spawning[i].result == fd->fd) return spawn_settle(i);
  for (int i = 0; i < MAX_CHILDREN; i++)
    if (table[i].pid != 0 && table[i].pty == fd->fd) return pty_drain(&table[i]);
}
