import { constants } from "node:os";

/** The facts an error may carry besides its code and message. */
export interface NsexecErrorFacts {
  /** What to do about it. */
  readonly hint?: string;
  /** The file, folder or socket concerned, as the caller named it. */
  readonly path?: string;
  /** The name of the cause, where the machine showed it: several causes share one errno. */
  readonly reason?: string;
  /** The failed system call. */
  readonly syscall?: string;
  /** The kernel's error number, negative as in Node's own errors. */
  readonly errno?: number;
  /** The step of a plan that failed. */
  readonly step?: string;
  readonly cause?: unknown;
}

/** Every error of this package: a stable `code`, the facts as fields, and a hint that says what to do. */
export class NsexecError extends Error {
  override readonly name: string = "NsexecError";
  readonly hint?: string;
  readonly path?: string;
  readonly reason?: string;
  readonly syscall?: string;
  readonly errno?: number;
  readonly step?: string;

  constructor(
    /** Stable: either one of this package's own codes or, for a system call, the errno's name. */
    readonly code: string,
    message: string,
    facts: NsexecErrorFacts = {},
  ) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause });
    const { cause: _, ...fields } = facts;
    Object.assign(this, fields);
  }
}

/** A system call that failed. `code` is the errno's name ("EPERM"). */
export class SyscallError extends NsexecError {
  override readonly name = "SyscallError";
}

/** The name of an errno, given positive or negative: 1 → "EPERM". */
export function errnoName(errno: number): string {
  const wanted = Math.abs(errno);
  return Object.entries(constants.errno).find(([, value]) => value === wanted)?.[0] ?? `E${wanted}`;
}

interface NativeError extends Error {
  code: string;
  errno: number;
  syscall: string;
  path?: string;
}

/** Runs a native call; its Node-style error leaves as a {@link SyscallError} with a hint. */
export function callNative<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw isNativeError(error) ? toSyscallError(error) : error;
  }
}

function isNativeError(error: unknown): error is NativeError {
  return error instanceof Error && "syscall" in error && "errno" in error;
}

function toSyscallError(error: NativeError): SyscallError {
  const hint = hintFor(error.syscall, error.code);
  return new SyscallError(error.code, error.message, {
    errno: error.errno,
    syscall: error.syscall,
    ...(error.path === undefined ? {} : { path: error.path }),
    ...(hint === undefined ? {} : { hint }),
    cause: error,
  });
}

const PRIVILEGED = /^(u?mount|umount2|move_mount|open_tree|mount_setattr|clone3|setres|setgroups|ioctl LOOP)/;

function hintFor(syscall: string, code: string): string | undefined {
  if (code === "EPERM" && PRIVILEGED.test(syscall))
    return "Run as root, or in a container that keeps CAP_SYS_ADMIN.";
  if (code === "ENOSYS")
    return `The kernel, or a seccomp filter, does not offer ${syscall}: run \`drums preflight\`.`;
  if (code === "EMFILE") return "Raise the limit on open files (ulimit -n).";
  if (code === "ENOSPC" && syscall === "clone3") return "Raise /proc/sys/user/max_*_namespaces.";
  if (code === "EBUSY" && syscall === "umount2")
    return "Something still uses the mount: see `fuser -vm PATH`.";
  if (code === "ELOOP" && syscall === "openat2")
    return "The path leads through a link that may not be followed.";
  if (code === "EXDEV" && syscall === "openat2") return "The path leads out of the folder it must stay in.";
  return undefined;
}
