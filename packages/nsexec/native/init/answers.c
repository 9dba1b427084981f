#include "answers.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocol.h"

static struct {
  int fd;
  uint32_t generation;
} connections[MAX_CONNECTIONS];

// One answer is under way at a time.
static char buffer[PACKET_MAX];

void connections_reset(void) {
  for (int i = 0; i < MAX_CONNECTIONS; i++) connections[i].fd = -1;
}

static int free_place(void) {
  for (int i = 0; i < MAX_CONNECTIONS; i++)
    if (connections[i].fd < 0) return i;
  return -1;
}

bool connections_full(void) { return free_place() < 0; }

void connection_add(int fd) {
  int place = free_place();
  connections[place].fd = fd;
  connections[place].generation++;
}

int connection_fd(int connection) { return connections[connection].fd; }

void connection_close(int connection) {
  close(connections[connection].fd);
  connections[connection].fd = -1;
}

bool asker_of(struct asker *asker, int connection, const char *id) {
  if (strlen(id) >= ID_MAX) return false;
  asker->connection = connection;
  asker->generation = connections[connection].generation;
  strcpy(asker->id, id);
  return true;
}

void answer_begin(struct answer *answer, const struct asker *to, const char *kind) {
  answer->to = *to;
  answer->length = 0;
  answer_text(answer, to->id);
  answer_text(answer, kind);
}

// What does not fit is left out: the list of children, the only long answer, is bounded far below.
void answer_text(struct answer *answer, const char *text) {
  size_t length = strlen(text) + 1;
  if (answer->length + length > sizeof buffer) return;
  memcpy(buffer + answer->length, text, length);
  answer->length += length;
}

void answer_number(struct answer *answer, long number) {
  char text[24];
  snprintf(text, sizeof text, "%ld", number);
  answer_text(answer, text);
}

void answer_send(struct answer *answer) {
  int at = answer->to.connection;
  if (connections[at].fd < 0 || connections[at].generation != answer->to.generation) return;
  ssize_t sent = send(connections[at].fd, buffer, answer->length, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) connection_close(at);
}

void answer_ok(const struct asker *to) {
  struct answer answer;
  answer_begin(&answer, to, "ok");
  answer_send(&answer);
}

void answer_error(const struct asker *to, const char *step, int error) {
  struct answer answer;
  answer_begin(&answer, to, "err");
  answer_text(&answer, step);
  answer_number(&answer, error);
  answer_send(&answer);
}
