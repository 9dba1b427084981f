// Packets of init's socket: NUL-separated fields. A request is `ID VERB ARGS…`, an answer `ID ok …` or
// `ID err STEP ERRNO`. Whoever speaks may be hostile: a packet is read whole, checked, and never trusted.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { PACKET_MAX = 128 * 1024, FIELDS_MAX = 4096 };

struct packet {
  char *fields[FIELDS_MAX + 1];
  size_t count;
};

// Splits LENGTH bytes in place; false where the packet is not terminated or has too many fields.
bool packet_split(struct packet *packet, char *bytes, size_t length);

// A field as a number within MIN…MAX; NUMBER is left alone where it is none.
bool packet_number(const char *field, long min, long max, long *number);
