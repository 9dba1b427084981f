/** What a {@link CgroupError} is about; stable, for programs. */
export type CgroupErrorCode =
  /** No cgroup2 mount, or one that cannot be used. */
  | "NO_HIERARCHY"
  /** A group path with an empty, hidden or unsafe part. */
  | "BAD_PATH"
  /** The group is there already; every session wants a fresh one. */
  | "GROUP_EXISTS"
  /** The group to open is not there. */
  | "NO_GROUP"
  /** The hierarchy's root, or an ancestor, does not offer the controller. */
  | "CONTROLLER_UNAVAILABLE"
  /** The kernel refused to enable a controller, or did not do it. */
  | "CONTROLLER_REFUSED"
  /** A limit that is not a value the kernel's file can hold. */
  | "BAD_LIMIT"
  /** The kernel refused a read, a write, a mkdir or a rmdir. */
  | "REFUSED"
  /** A group with processes was to be removed. */
  | "NOT_EMPTY"
  /** An awaited state did not come in time. */
  | "TIMEOUT";

/** The facts of a {@link CgroupError}. */
export interface CgroupErrorFacts {
  /** What to do about it. */
  readonly hint: string;
  /** The file or folder it is about. */
  readonly path?: string | undefined;
  /** The errno's name, such as `EBUSY`. */
  readonly errno?: string | undefined;
  /** The system call that failed. */
  readonly syscall?: string | undefined;
  /** The controller it is about. */
  readonly controller?: string | undefined;
  readonly cause?: unknown;
}

/** Every failure of this package: a stable `code`, the facts as fields, and in `hint` what to do. */
export class CgroupError extends Error {
  override readonly name = "CgroupError";
  readonly code: CgroupErrorCode;
  readonly hint: string;
  readonly path: string | undefined;
  readonly errno: string | undefined;
  readonly syscall: string | undefined;
  readonly controller: string | undefined;

  constructor(code: CgroupErrorCode, message: string, facts: CgroupErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.hint = facts.hint;
    this.path = facts.path;
    this.errno = facts.errno;
    this.syscall = facts.syscall;
    this.controller = facts.controller;
  }
}
