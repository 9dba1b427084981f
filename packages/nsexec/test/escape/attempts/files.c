// Files that are more outside than inside. What these leave in the upper, the host judges: see judge.ts.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "attempt.h"

// A fresh file in the session's upper that its maker owns; /home is the user's too.
static int make(const char *path, mode_t mode) {
  unlink(path);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
  if (fd < 0) return -1;
  (void)!write(fd, "#!/bin/sh\n", 10);
  if (fchmod(fd, mode) < 0) return -1;
  return fd;
}

static const char *place(const char *name) {
  static char path[64];
  snprintf(path, sizeof path, "/home/attempts/%d-%s", (int)geteuid(), name);
  return path;
}

static int setuid_file(void) { return refusal(make(place("setuid"), 04755)); }

static int capability_file(void) {
  struct vfs_cap_data caps = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
                              .data = {{.permitted = 1u << CAP_SYS_ADMIN}}};
  int fd = make(place("capability"), 0755);
  if (fd < 0) return errno;
  return refusal(fsetxattr(fd, "security.capability", &caps, sizeof caps, 0));
}

static int overlay_xattr(void) {
  int fd = make(place("opaque"), 0755);
  if (fd < 0) return errno;
  return refusal(fsetxattr(fd, "trusted.overlay.redirect", "/etc", 4, 0));
}

static int lower_file(void) {
  int fd = open("/usr/lib/marker", O_WRONLY | O_TRUNC);
  if (fd < 0) return errno;
  return refusal(write(fd, "changed\n", 8));
}

static int become_root(void) {
  if (geteuid() == 0) return ENODATA;
  return refusal(setresuid(0, 0, 0));
}

// Past the last id of the map, where the host's own users begin.
static int become_stranger(void) { return refusal(setresuid(70000, 70000, 70000)); }

static const struct attempt LIST[] = {
    {"setuid-file", setuid_file},     {"capability-file", capability_file}, {"overlay-xattr", overlay_xattr},
    {"write-lower", lower_file},      {"become-root", become_root},
    {"become-unmapped-user", become_stranger},
};
const struct attempts FILES = {LIST, sizeof LIST / sizeof *LIST};
