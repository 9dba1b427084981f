#include "protocol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool packet_split(struct packet *packet, char *bytes, size_t length) {
  packet->count = 0;
  if (length == 0 || bytes[length - 1] != 0) return false;
  for (char *at = bytes; at < bytes + length; at += strlen(at) + 1) {
    if (packet->count == FIELDS_MAX) return false;
    packet->fields[packet->count++] = at;
  }
  packet->fields[packet->count] = NULL;
  return true;
}

bool packet_number(const char *field, long min, long max, long *number) {
  char *end;
  errno = 0;
  long value = strtol(field, &end, 10);
  if (errno != 0 || end == field || *end || value < min || value > max) return false;
  *number = value;
  return true;
}
