#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fail.h"
#include "sys.h"

enum { CHUNK = 32 * 1024 };

static void send_part(const char *name, const char *bytes, size_t length) {
  char packet[CHUNK + 64];
  int head = snprintf(packet, 64, "part%c%s%c", 0, name, 0);
  memcpy(packet + head, bytes, length);
  control_send(packet, (size_t)head + length);
}

void report_text(const char *name, const char *text) { send_part(name, text, strlen(text)); }

void report_file(const char *name, const char *path) {
  char chunk[CHUNK];
  ssize_t length;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("report", path);
  while ((length = read(fd, chunk, sizeof chunk)) > 0) send_part(name, chunk, (size_t)length);
  if (length < 0) fail("report", path);
  close(fd);
}

void report_namespaces(void) {
  static const char *const NAMES[] = {"mnt", "pid", "uts", "ipc", "net", "user", "cgroup", "time"};
  char text[512];
  size_t used = 0;
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/self/ns/%s", NAMES[i]);
    if (stat(path, &st) < 0) fail("report", path);
    used += (size_t)snprintf(text + used, sizeof text - used, "%s %lu %lu\n", NAMES[i], st.st_dev, st.st_ino);
  }
  report_text("namespaces", text);
}

// Field 22 of /proc/PID/stat; the name in parentheses may hold anything, so fields count from the last one.
static unsigned long long start_time(pid_t pid) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("report", path);
  ssize_t length = read(fd, text, sizeof text - 1);
  if (length < 0) fail("report", path);
  close(fd);
  text[length] = 0;
  char *at = strrchr(text, ')');
  for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
  if (!at) fail_errno("report", path, EBADMSG);
  return strtoull(at + 1, NULL, 10);
}

void report_child(pid_t pid) {
  char packet[64];
  int length = snprintf(packet, sizeof packet, "pid%c%d%c%llu", 0, pid, 0, start_time(pid));
  control_send(packet, (size_t)length);
}
