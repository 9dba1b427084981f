// Mounts by the old and the new calls, file handles, and roots outside the root.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/mount.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attempt.h"

static int mounted(const char *source, const char *type, unsigned long flags) {
  mkdir("/tmp/attempt", 0755);
  return refusal(syscall(SYS_mount, source, "/tmp/attempt", type, flags, NULL));
}
static int fresh_tmpfs(void) { return mounted("tmpfs", "tmpfs", 0); }
static int fresh_proc(void) { return mounted("proc", "proc", 0); }
static int fresh_sysfs(void) { return mounted("sysfs", "sysfs", 0); }
static int fresh_debugfs(void) { return mounted("debugfs", "debugfs", 0); }
static int fresh_cgroup2(void) { return mounted("cgroup2", "cgroup2", 0); }
static int release_agent(void) { return mounted("cgroup", "cgroup", 0); }
static int fresh_devtmpfs(void) { return mounted("devtmpfs", "devtmpfs", 0); }
static int bind_root(void) { return mounted("/", NULL, 4096 /* MS_BIND */); }
static int move_a_mount(void) { return mounted("/dev/shm", NULL, 8192 /* MS_MOVE */); }
static int unmount_dev(void) { return refusal(syscall(SYS_umount2, "/dev", 2)); }

static int new_filesystem(void) { return refusal(syscall(SYS_fsopen, "tmpfs", 0)); }
static int open_a_tree(void) { return refusal(syscall(SYS_open_tree, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */)); }
static int move_tree(void) { return refusal(syscall(SYS_move_mount, AT_FDCWD, "/dev/shm", AT_FDCWD, "/tmp", 0)); }
static int make_writable(void) {
  uint64_t attr[4] = {0, 1 /* MOUNT_ATTR_RDONLY */, 0, 0};
  return refusal(syscall(SYS_mount_setattr, AT_FDCWD, "/proc/sys", 0, attr, sizeof attr));
}
static int pick_filesystem(void) { return refusal(syscall(SYS_fspick, AT_FDCWD, "/", 0)); }
static int pivot(void) { return refusal(syscall(SYS_pivot_root, "/", "/")); }

static int handle_of(void) {
  char handle[128 + 8] = {(char)128};
  int mount_id;
  return refusal(syscall(SYS_name_to_handle_at, AT_FDCWD, "/", handle, &mount_id, 0));
}

// Inode 2 is the root folder of an ext4: what the program "shocker" read of the host.
static int open_handle(void) {
  struct {
    unsigned bytes;
    int type;
    uint32_t inode[2];
  } handle = {8, 1, {2, 0}};
  return refusal(syscall(SYS_open_by_handle_at, AT_FDCWD, &handle, O_RDONLY));
}

static int same(const struct stat *one, const struct stat *other) {
  return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

// A second chroot leaves the folder that is held open outside the root: .. then leads up past it.
static int climb_out(void) {
  struct stat before, after;
  if (stat("/", &before) < 0) return errno;
  int outside = open("/", O_RDONLY | O_DIRECTORY);
  mkdir("/tmp/attempt-jail", 0755);
  if (chroot("/tmp/attempt-jail") < 0) return errno;
  if (fchdir(outside) < 0) return errno;
  for (int i = 0; i < 64; i++)
    if (chdir("..") < 0) return errno;
  if (chroot(".") < 0 || stat("/", &after) < 0) return errno;
  return same(&before, &after) ? ENODATA : 0;
}

static int root_of_init(void) {
  struct stat own, other;
  if (stat("/", &own) < 0 || stat("/proc/1/root/..", &other) < 0) return errno;
  return same(&own, &other) ? ENODATA : 0;
}

// The host's root is stacked below ours for the moment of a pivot_root.
static int root_below(void) {
  struct stat own, other;
  if (chdir("/") < 0 || chdir("../../../..") < 0) return errno;
  if (stat("/", &own) < 0 || stat(".", &other) < 0) return errno;
  return same(&own, &other) ? ENODATA : 0;
}

static const struct attempt LIST[] = {
    {"mount-tmpfs", fresh_tmpfs},       {"mount-proc", fresh_proc},       {"mount-sysfs", fresh_sysfs},
    {"mount-debugfs", fresh_debugfs},   {"mount-cgroup2", fresh_cgroup2}, {"release-agent", release_agent},
    {"mount-devtmpfs", fresh_devtmpfs}, {"bind-root", bind_root},         {"move-mount-old", move_a_mount},
    {"unmount-dev", unmount_dev},       {"fsopen", new_filesystem},       {"open-tree", open_a_tree},
    {"move-mount", move_tree},          {"mount-setattr", make_writable}, {"fspick", pick_filesystem},
    {"pivot-root", pivot},              {"name-to-handle", handle_of},    {"open-by-handle", open_handle},
    {"chroot-climb", climb_out},        {"root-of-init", root_of_init},   {"root-below", root_below},
};
const struct attempts MOUNTS = {LIST, sizeof LIST / sizeof *LIST};
