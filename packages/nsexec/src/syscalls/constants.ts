import { constants as fs } from "node:fs";

/** Flags of mount(2), from <sys/mount.h>. */
export const MS = {
  RDONLY: 1,
  NOSUID: 2,
  NODEV: 4,
  NOEXEC: 8,
  REMOUNT: 32,
  NOATIME: 1024,
  BIND: 4096,
  MOVE: 8192,
  REC: 16384,
  UNBINDABLE: 1 << 17,
  PRIVATE: 1 << 18,
  SLAVE: 1 << 19,
  SHARED: 1 << 20,
  RELATIME: 1 << 21,
  STRICTATIME: 1 << 24,
} as const;

/** Flags of umount2(2). */
export const MNT = { FORCE: 1, DETACH: 2, EXPIRE: 4, UMOUNT_NOFOLLOW: 8 } as const;

/** Flags of open(2) that Node's own fs.constants lacks, beside those that differ between architectures. */
export const O = {
  ...fs,
  O_PATH: 0o10000000,
  O_CLOEXEC: 0o2000000,
} as const;

/** The resolve field of openat2(2), from <linux/openat2.h>. */
export const RESOLVE = {
  NO_XDEV: 0x01,
  NO_MAGICLINKS: 0x02,
  NO_SYMLINKS: 0x04,
  BENEATH: 0x08,
  IN_ROOT: 0x10,
  CACHED: 0x20,
} as const;

/** The current folder in place of a dirfd. */
export const AT_FDCWD = -100;

/** Flags of the *at calls, from <linux/fcntl.h>. */
export const AT = { SYMLINK_NOFOLLOW: 0x100, EMPTY_PATH: 0x1000, RECURSIVE: 0x8000 } as const;

/** open_tree(2). */
export const OPEN_TREE_CLONE = 1;

/** move_mount(2), from <linux/mount.h>. */
export const MOVE_MOUNT = { F_EMPTY_PATH: 0x4, T_EMPTY_PATH: 0x40 } as const;

/** mount_setattr(2), from <linux/mount.h>. */
export const MOUNT_ATTR = {
  RDONLY: 0x1,
  NOSUID: 0x2,
  NODEV: 0x4,
  NOEXEC: 0x8,
  IDMAP: 0x100000,
  NOSYMFOLLOW: 0x200000,
} as const;

/** flock(2). */
export const LOCK = { SH: 1, EX: 2, NB: 4, UN: 8 } as const;

/** Socket types that connectUnix knows. */
export const SOCK = { stream: 1, seqpacket: 5 } as const;

/** Loop device flags, from <linux/loop.h>. */
export const LO_FLAGS = { READ_ONLY: 1, AUTOCLEAR: 4, PARTSCAN: 8, DIRECT_IO: 16 } as const;

/** Namespace flags of clone(2), by the names under /proc/PID/ns. */
export const CLONE_NEW = {
  time: 0x80,
  mnt: 0x20000,
  cgroup: 0x2000000,
  uts: 0x4000000,
  ipc: 0x8000000,
  user: 0x10000000,
  pid: 0x20000000,
  net: 0x40000000,
} as const;
