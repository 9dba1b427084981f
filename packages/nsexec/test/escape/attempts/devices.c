// Devices of the host, and input put into a terminal as if it had been typed.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "attempt.h"

static int node(const char *path, mode_t type, unsigned major, unsigned minor) {
  unlink(path);
  if (mknod(path, type | 0600, makedev(major, minor)) < 0) return errno;
  int fd = open(path, O_RDONLY | O_NONBLOCK);
  int error = refusal(fd);
  unlink(path);
  return error;
}

static int disk_node(void) { return node("/tmp/attempt-disk", S_IFBLK, 8, 0); }
static int log_node(void) { return node("/tmp/attempt-kmsg", S_IFCHR, 1, 11); }
static int memory_node(void) { return node("/tmp/attempt-mem", S_IFCHR, 1, 1); }
static int node_in_upper(void) { return node("/attempt-null", S_IFCHR, 1, 3); }
static int node_in_dev(void) { return node("/dev/attempt-null", S_IFCHR, 1, 3); }

static int host_device(const char *path) {
  int fd = open(path, O_RDWR | O_NONBLOCK);
  return refusal(fd);
}
static int mem(void) { return host_device("/dev/mem"); }
static int kmsg(void) { return host_device("/dev/kmsg"); }
static int kvm(void) { return host_device("/dev/kvm"); }
static int fuse(void) { return host_device("/dev/fuse"); }
static int tun(void) { return host_device("/dev/net/tun"); }
static int loop_control(void) { return host_device("/dev/loop-control"); }
static int console(void) { return host_device("/dev/console"); }

static int terminal(void) {
  int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0) return -1;
  setsid();
  return open(ptsname(master), O_RDWR);
}

static int type_ahead(void) {
  char byte = 'x';
  return refusal(ioctl(terminal(), TIOCSTI, &byte));
}

static int paste(void) {
  char selection = 3;
  return refusal(ioctl(terminal(), TIOCLINUX, &selection));
}

static const struct attempt LIST[] = {
    {"make-disk-node", disk_node},   {"make-kmsg-node", log_node}, {"make-mem-node", memory_node},
    {"make-node-in-upper", node_in_upper}, {"make-node-in-dev", node_in_dev},
    {"open-mem", mem},               {"open-kmsg", kmsg},          {"open-kvm", kvm},
    {"open-fuse", fuse},             {"open-tun", tun},            {"open-loop-control", loop_control},
    {"open-console", console},       {"type-into-terminal", type_ahead}, {"paste-into-console", paste},
};
const struct attempts DEVICES = {LIST, sizeof LIST / sizeof *LIST};
