// Connections, and answers that may come later than the request (a wait, a spawn).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAX_CONNECTIONS = 32, ID_MAX = 24 };

// Who asked: a connection may be gone, and its place taken, before the answer is there.
struct asker {
  int connection;
  uint32_t generation;
  char id[ID_MAX];
};

// Places for connections; a free one has the descriptor -1. The reset comes before all else.
void connections_reset(void);
void connection_add(int fd);  // not to be called when full
int connection_fd(int connection);
bool connections_full(void);
void connection_close(int connection);

// Names the asker of a request on CONNECTION; false where ID is too long.
bool asker_of(struct asker *asker, int connection, const char *id);

// An answer is built field by field and sent whole. A client that does not read is cut off, never waited for.
struct answer {
  struct asker to;
  size_t length;
};
void answer_begin(struct answer *answer, const struct asker *to, const char *kind);
void answer_text(struct answer *answer, const char *text);
void answer_number(struct answer *answer, long number);
void answer_send(struct answer *answer);

void answer_ok(const struct asker *to);
void answer_error(const struct asker *to, const char *step, int error);
