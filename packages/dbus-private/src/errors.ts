/** What a {@link DbusError} is about; stable, for programs. */
export type DbusErrorCode =
  /** A configuration file that must be there is not. */
  | "CONFIG_MISSING"
  /** A configuration file that dbus-daemon would refuse. */
  | "CONFIG_MALFORMED"
  /** Files that include each other, or too deep. */
  | "CONFIG_LOOP"
  /** More or larger files than a configuration can sensibly have. */
  | "CONFIG_TOO_LARGE"
  /** An address that a private bus must not have. */
  | "BAD_ADDRESS"
  /** The bus's socket could not be connected to. */
  | "CONNECT_FAILED"
  /** The bus refused the uid. */
  | "AUTH_REFUSED"
  /** The peer does not speak D-Bus, or not within the bounds. */
  | "PROTOCOL"
  /** The peer closed the connection. */
  | "CLOSED"
  /** The bus answered a call with an error; its name is in `errorName`. */
  | "CALL_REFUSED"
  /** No answer in time. */
  | "TIMEOUT"
  /** The bus did not become ready in time. */
  | "NOT_READY"
  /** The path is not a socket. */
  | "NOT_A_SOCKET";

/** The facts of a {@link DbusError}. */
export interface DbusErrorFacts {
  /** What to do about it. */
  readonly hint: string;
  /** The file or socket it is about. */
  readonly path?: string | undefined;
  /** The line in that file, from 1. */
  readonly line?: number | undefined;
  /** The D-Bus name of an error reply, such as `org.freedesktop.DBus.Error.ServiceUnknown`. */
  readonly errorName?: string | undefined;
  readonly cause?: unknown;
}

/** Every failure of this package: a stable `code`, the facts as fields, and in `hint` what to do. */
export class DbusError extends Error {
  override readonly name = "DbusError";
  readonly code: DbusErrorCode;
  readonly hint: string;
  readonly path: string | undefined;
  readonly line: number | undefined;
  readonly errorName: string | undefined;

  constructor(code: DbusErrorCode, message: string, facts: DbusErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.hint = facts.hint;
    this.path = facts.path;
    this.line = facts.line;
    this.errorName = facts.errorName;
  }
}
