// System calls that glibc 2.36 has no wrapper for, and their structs where the headers may be older.
#pragma once
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline long sys_clone3(struct clone_args *args) { return syscall(SYS_clone3, args, sizeof *args); }

static inline int sys_openat2(int dirfd, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve) {
  struct open_how how = {.flags = flags, .mode = mode, .resolve = resolve};
  return (int)syscall(SYS_openat2, dirfd, path, &how, sizeof how);
}

static inline int sys_open_tree(int dirfd, const char *path, unsigned flags) {
  return (int)syscall(SYS_open_tree, dirfd, path, flags);
}

static inline int sys_mount_setattr(int dirfd, const char *path, unsigned flags, struct mount_attr *attr) {
  return (int)syscall(SYS_mount_setattr, dirfd, path, flags, attr, sizeof *attr);
}

static inline int sys_move_mount(int from, const char *from_path, int to, const char *to_path, unsigned flags) {
  return (int)syscall(SYS_move_mount, from, from_path, to, to_path, flags);
}

static inline int sys_pivot_root(const char *new_root, const char *put_old) {
  return (int)syscall(SYS_pivot_root, new_root, put_old);
}

static inline int sys_close_range(unsigned first, unsigned last) {
  return (int)syscall(SYS_close_range, first, last, 0);
}
