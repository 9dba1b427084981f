import type { Explanation } from "./explain/explain.js";

/** The stable codes of a {@link CriuError}. */
export type CriuErrorCode =
  | "APT_FAILED"
  | "AUDIT_REFUSED"
  | "BUNDLE_DAMAGED"
  | "CRIU_MISSING"
  | "CRIU_TOO_OLD"
  | "CRIU_UNUSABLE"
  | "CRIU_VERSION_MISMATCH"
  | "DISK_FULL"
  | "DUMP_FAILED"
  | "EXTERNAL_MISSING"
  | "FEATURE_MISSING"
  | "IMAGE_INVALID"
  | "LAYER_CHANGED"
  | "LIMIT_TOO_LOW"
  | "MANIFEST_INVALID"
  | "MANIFEST_UNREADABLE"
  | "NO_DEBIAN_ARCHIVE"
  | "PIN_HASH_MISMATCH"
  | "PIN_NOT_SERVED"
  | "PROGRAM_MISSING"
  | "RESTORE_FAILED"
  | "RPC_ABORTED"
  | "RPC_ARGUMENT"
  | "RPC_CLOSED"
  | "RPC_PROTOCOL"
  | "RPC_TIMEOUT"
  | "UNKNOWN_PINS"
  | "UNPACK_FAILED";

/** A CRIU log: where it lies and its error lines or tail. */
export interface LogExcerpt {
  readonly file: string;
  readonly lines: readonly string[];
}

/** What a {@link CriuError} carries beside its code and message. */
export interface CriuErrorDetails {
  /** What to do about it. */
  readonly hint: string;
  readonly cause?: unknown;
  readonly log?: LogExcerpt;
  readonly explanation?: Explanation;
  /** Facts of the failure by name: paths, versions, digests, pids. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>;
}

/** The one error class of this package. */
export class CriuError extends Error {
  override readonly name = "CriuError";
  readonly code: CriuErrorCode;
  readonly hint: string;
  readonly log?: LogExcerpt;
  readonly explanation?: Explanation;
  readonly facts: Readonly<Record<string, string | number | boolean>>;

  constructor(code: CriuErrorCode, message: string, details: CriuErrorDetails) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.facts = details.facts ?? {};
    if (details.log !== undefined) this.log = details.log;
    if (details.explanation !== undefined) this.explanation = details.explanation;
  }
}
