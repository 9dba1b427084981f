/** Stable names of what can go wrong in this package. */
export type RootfsErrorCode =
  // image files
  | "NO_SUCH_IMAGE"
  | "NOT_A_FILE"
  | "IMAGE_CHANGED"
  | "IMAGE_DIGEST_MISMATCH"
  | "NOT_QCOW2"
  | "UNSUPPORTED_QCOW2"
  | "BACKING_FILE"
  | "DATA_FILE"
  | "ENCRYPTED"
  | "CORRUPT"
  | "TRUNCATED"
  | "BAD_PARTITION_TABLE"
  | "NO_ROOT_PARTITION"
  | "UNREADABLE"
  // mounts
  | "NO_WAY"
  | "NO_FREE_LOOP"
  | "LOOP_FAILED"
  | "DAEMON_FAILED"
  | "DAEMON_LOST"
  | "MOUNT_FAILED"
  | "REPLAY_FAILED"
  | "TEARDOWN_FAILED"
  | "ROOT_BUSY"
  | "NO_SUCH_ROOT"
  | "BAD_STATE"
  | "MISSING_PROGRAM"
  // overlays
  | "OVERLAY_TOO_LONG"
  | "OVERLAY_TOO_MANY_LAYERS"
  | "OVERLAY_NOT_FOUND"
  | "OVERLAY_UPPER_STALE"
  | "OVERLAY_UPPER_BUSY"
  | "OVERLAY_FAILED"
  | "UPPER_EXISTS"
  | "SIZE_INVALID"
  | "SIZED_FOLDER_FAILED"
  | "COPY_FAILED"
  // layers
  | "DEB_DIGEST_MISMATCH"
  | "DEB_UNREADABLE"
  | "DEB_UNSAFE"
  | "WHEEL_DIGEST_MISMATCH"
  | "WHEEL_UNREADABLE"
  | "WHEEL_UNSUITABLE"
  | "LAYER_EXISTS"
  | "LAYER_UNSAFE"
  // audits of a root
  | "NOT_ELF"
  | "BAD_ELF"
  | "BAD_CACHE"
  | "NO_SUCH_PROGRAM"
  // paths inside a root
  | "LINK_LOOP"
  | "BAD_PATH";

/** The facts that an error carries beside its sentence. */
export interface RootfsErrorFacts {
  /** The file, folder or device that the error is about. */
  readonly path?: string;
  /** What to do about it. */
  readonly hint?: string;
  /** Whatever else was measured: offsets, sizes, expected and found values, a log's tail. */
  readonly facts?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly cause?: unknown;
}

/** Every error that this package throws on purpose. */
export class RootfsError extends Error {
  override readonly name = "RootfsError";
  readonly path: string | undefined;
  readonly hint: string | undefined;
  readonly facts: Readonly<Record<string, string | number | boolean | undefined>>;

  constructor(
    readonly code: RootfsErrorCode,
    message: string,
    { path, hint, facts = {}, cause }: RootfsErrorFacts = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.path = path;
    this.hint = hint;
    this.facts = facts;
  }
}

/** A system error's code ("ENOENT"), or undefined for any other value. */
export function systemCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

/** An error's own sentence, for building another one. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
