/** Exit status of every command. A signal ends with 128 + its number, as shells expect. */
export const EXIT = { done: 0, verdictFailed: 1, usage: 2, blocker: 3, fault: 4 } as const;

/** One of the five exit statuses. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What an error of drums says; every part is a sentence or a piece of one. */
export interface DrumsErrorFacts {
  /** Stable name for programs, in capitals. */
  readonly code: string;
  /** Exit status of the command that meets it. Default: `EXIT.fault`. */
  readonly exitCode?: ExitCode;
  /** What went wrong. */
  readonly what: string;
  /** The file, device, process or option it concerns. */
  readonly where?: string;
  /** Why, as far as it is known. */
  readonly why?: string;
  /** What to do about it. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/** The error of this package: what, where, why and what to do, with a stable code and an exit status. */
export class DrumsError extends Error {
  override readonly name = "DrumsError";
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly what: string;
  readonly where: string | undefined;
  readonly why: string | undefined;
  readonly hint: string | undefined;

  constructor(facts: DrumsErrorFacts) {
    const place = facts.where === undefined ? "" : ` (${facts.where})`;
    const reason = facts.why === undefined ? "" : `: ${facts.why}`;
    super(`${facts.what}${place}${reason}`, facts.cause === undefined ? {} : { cause: facts.cause });
    this.code = facts.code;
    this.exitCode = facts.exitCode ?? EXIT.fault;
    this.what = facts.what;
    this.where = facts.where;
    this.why = facts.why;
    this.hint = facts.hint;
  }
}

/** The message of whatever was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The stable code of an error of ours or of Node's, if it has one. */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}

/** Codes that the packages give to work cut off by its caller's AbortSignal. */
const ABORT_CODES = ["ABORT_ERR", "ABORTED", "RPC_ABORTED", "INTERRUPTED"];

/** True for what an aborted AbortSignal makes functions throw. */
export function isAbort(thrown: unknown): boolean {
  const isNamedSo = thrown instanceof Error && thrown.name === "AbortError";
  return isNamedSo || ABORT_CODES.includes(codeOf(thrown) ?? "");
}
