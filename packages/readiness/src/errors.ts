/** Why a function of this package refused; stable, for programs to branch on. */
export type ReadinessErrorCode =
  | "BAD_FRAME"
  | "BAD_XWD"
  | "BAD_PNG"
  | "BAD_FACTS_TEXT"
  | "X_REFUSED"
  | "X_PROTOCOL"
  | "X_SERVER_GONE"
  | "X_TIMEOUT"
  | "X_ERROR"
  | "X_EXTENSION_MISSING"
  | "NO_KEY"
  | "FOCUS_REFUSED"
  | "BUS_GONE"
  | "ABORTED";

export interface ReadinessErrorFacts {
  /** What to do about it. */
  readonly hint: string;
  readonly cause?: unknown;
  /** The core protocol's error code (X11 protocol, Appendix B) when the server answered with one. */
  readonly xError?: number;
}

/** The one error class of this package. */
export class ReadinessError extends Error {
  override readonly name = "ReadinessError";
  readonly code: ReadinessErrorCode;
  readonly hint: string;
  readonly xError?: number;

  constructor(code: ReadinessErrorCode, message: string, facts: ReadinessErrorFacts) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.code = code;
    this.hint = facts.hint;
    if (facts.xError !== undefined) this.xError = facts.xError;
  }
}
