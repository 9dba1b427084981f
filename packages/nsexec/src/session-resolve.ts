import { type BigIntStats, closeSync, fstatSync, statfsSync } from "node:fs";
import { NsexecError, SyscallError } from "./errors.js";
import { O, RESOLVE } from "./syscalls/constants.js";
import { openat2 } from "./syscalls/file.js";

/** What a path turned out to be. */
export type FileKind =
  | "regular"
  | "folder"
  | "link"
  | "socket"
  | "fifo"
  | "block-device"
  | "character-device";

/** A path resolved inside a root: an O_PATH descriptor, which opens nothing and so sets nothing off. */
export interface Resolved {
  readonly fd: number;
  readonly stats: BigIntStats;
  readonly kind: FileKind;
}

/** Whether a link at the end of the path is followed (inside the root, always) or is itself the result. */
export interface FollowOption {
  /** Default false. */
  readonly follow?: boolean;
}

/** openat2(2) gives EAGAIN when a rename somewhere on the machine raced with a "..". */
const RACE_ATTEMPTS = 128;

/**
 * Resolves a path below `rootFd` as if that were "/": "..", absolute links and linked folders stay
 * inside, and magic links (/proc/PID/fd, /proc/PID/root …) are refused.
 * The result's descriptor lives until `use` has ended.
 * @throws SyscallError ENOENT, ELOOP …
 */
export async function withResolved<T>(
  rootFd: number,
  path: string,
  options: FollowOption,
  use: (resolved: Resolved) => Promise<T> | T,
): Promise<T> {
  const fd = openPath(rootFd, path, options);
  try {
    const stats = fstatSync(fd, { bigint: true });
    return await use({ fd, stats, kind: kindOf(stats) });
  } finally {
    closeSync(fd);
  }
}

function openPath(rootFd: number, path: string, { follow = false }: FollowOption): number {
  const flags = O.O_PATH | (follow ? 0 : O.O_NOFOLLOW);
  const resolve = RESOLVE.IN_ROOT | RESOLVE.NO_MAGICLINKS;
  for (let attempt = 1; ; attempt++) {
    try {
      return openat2({ dirfd: rootFd, path, flags, resolve });
    } catch (error) {
      if (!(error instanceof SyscallError && error.code === "EAGAIN") || attempt === RACE_ATTEMPTS)
        throw error;
    }
  }
}

/** The kind of file that a mode stands for. */
export function kindOf(stats: BigIntStats): FileKind {
  if (stats.isFile()) return "regular";
  if (stats.isDirectory()) return "folder";
  if (stats.isSymbolicLink()) return "link";
  if (stats.isSocket()) return "socket";
  if (stats.isFIFO()) return "fifo";
  return stats.isBlockDevice() ? "block-device" : "character-device";
}

/** Refuses every kind but the wanted one. @throws NsexecError code WRONG_KIND */
export function assertKind(resolved: Resolved, wanted: FileKind, path: string): void {
  if (resolved.kind === wanted) return;
  throw new NsexecError("WRONG_KIND", `${path} in the session is a ${resolved.kind}, not a ${wanted}`, {
    path,
    hint: "The session may have replaced it; nothing was opened.",
  });
}

/**
 * Filesystems whose files answer with the reader's rights, or not at all: a session's link to
 * /proc/kcore would be read as the host's root. Magic numbers from <linux/magic.h>.
 */
const REFUSED_FILESYSTEMS = new Map([
  [0x9fa0, "proc"],
  [0x62656572, "sysfs"],
  [0x64626720, "debugfs"],
  [0x74726163, "tracefs"],
  [0x73636673, "securityfs"],
  [0x27e0eb, "cgroup"],
  [0x63677270, "cgroup2"],
  [0x65735546, "fuse"],
  [0xcafe4a11, "bpf"],
]);

/**
 * Refuses files of the kernel's own filesystems and of FUSE. Like fstat before it, it is answered by the kernel alone
 * wherever a session can make a filesystem, so it is no hop to a thread. @throws NsexecError code REFUSED_FILESYSTEM */
export function assertPlainFilesystem(resolved: Resolved, path: string): void {
  const { type } = statfsSync(`/proc/self/fd/${resolved.fd}`);
  const name = REFUSED_FILESYSTEMS.get(type >>> 0);
  if (name === undefined) return;
  throw new NsexecError("REFUSED_FILESYSTEM", `${path} in the session lies on ${name}`, {
    path,
    hint: "Read the host's own /proc for what the kernel says of the session.",
  });
}

/** The path by which an O_PATH descriptor is opened for real, connected to or listed. */
export function descriptorPath(resolved: Resolved): string {
  return `/proc/self/fd/${resolved.fd}`;
}
