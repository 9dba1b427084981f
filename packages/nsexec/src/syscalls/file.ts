import { callNative } from "../errors.js";
import { AT_FDCWD } from "./constants.js";
import { native } from "./native.js";

/** What openat2(2) takes; every descriptor it makes is close-on-exec. */
export interface Openat2Options {
  /** The folder a relative path starts at, and the root under RESOLVE.IN_ROOT. Default: the current folder. */
  readonly dirfd?: number;
  readonly path: string;
  /** O flags, default O_RDONLY. */
  readonly flags?: number;
  /** Permission bits for O_CREAT and O_TMPFILE; must stay 0 otherwise. */
  readonly mode?: number;
  /** RESOLVE flags, default none. */
  readonly resolve?: number;
}

/** openat2(2). @throws SyscallError */
export function openat2(options: Openat2Options): number {
  const { dirfd = AT_FDCWD, path, flags = 0, mode = 0, resolve = 0 } = options;
  return callNative(() => native().openat2(dirfd, path, flags, mode, resolve));
}

/** readlinkat(2); an empty path reads the link that `dirfd` itself (O_PATH | O_NOFOLLOW) stands for. */
export function readlinkat(dirfd: number, path = ""): Buffer {
  return callNative(() => native().readlinkat(dirfd, path));
}

/** mknod(2): a fifo, socket or device node. @param mode  its type (S_IFIFO …) and permissions @param device  default 0 */
export function mknod(path: string, mode: number, device = 0): void {
  callNative(() => native().mknod(path, mode, device));
}

/** flock(2) with LOCK flags. Blocks the whole process unless LOCK.NB is given (then EAGAIN). */
export function flock(fd: number, operation: number): void {
  callNative(() => native().flock(fd, operation));
}

/** getxattr(2): an extended attribute of what the path leads to, an open file behind /proc/PID/fd too. */
export function getxattr(path: string, name: string): Buffer {
  return callNative(() => native().getxattr(path, name));
}

/** lgetxattr(2): an extended attribute of the file itself, not of what it links to. */
export function lgetxattr(path: string, name: string): Buffer {
  return callNative(() => native().lgetxattr(path, name));
}

/** lsetxattr(2). */
export function lsetxattr(path: string, name: string, value: Buffer, flags = 0): void {
  callNative(() => native().lsetxattr(path, name, value, flags));
}

/** llistxattr(2): the names of all extended attributes. */
export function llistxattr(path: string): string[] {
  const names = callNative(() => native().llistxattr(path)).toString("utf8");
  return names.split("\0").filter((name) => name !== "");
}
