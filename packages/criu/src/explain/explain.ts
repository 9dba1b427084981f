import { errorLines, type LogLine, parseLog } from "./log.js";
import { FAILURES, type Phase } from "./rules.js";

/** Why a dump or restore failed, by the log's own lines. */
export interface Explanation {
  /** One sentence. For an unknown failure it says so. */
  readonly cause: string;
  /** The log's error lines; for an unknown failure without any, its tail. */
  readonly lines: readonly string[];
  readonly remedy: string;
  readonly known: boolean;
  /** The rule that matched. */
  readonly rule?: string;
  /** What the log names: object, path, size, descriptor. */
  readonly facts: Readonly<Record<string, string>>;
  /** Inner pid that the line of the cause speaks of; a restore's lines have one. */
  readonly pid?: number;
  /** The process that it is about, where it could be found (see `nameProcess`). */
  readonly process?: ExplainedProcess;
}

/** A process of the dumped or restored tree. */
export interface ExplainedProcess {
  readonly name: string;
  /** Pid inside its namespace. */
  readonly innerPid?: number;
  /** Pid on the host; a process that was not restored has none. */
  readonly pid?: number;
  /** The descriptor that the failure is about. */
  readonly fd?: number;
}

const MAX_LINES = 12;
const TAIL_LINES = 15;

/**
 * Explains a failed call by its log. Never empty: an unknown failure carries the log's tail and says "unknown".
 * @param logText the content of CRIU's log, and what it wrote to stderr
 */
export function explainFailure(logText: string, { phase }: { readonly phase: Phase }): Explanation {
  const errors = errorLines(logText);
  const lines = errors.slice(0, MAX_LINES).map(({ raw }) => raw);
  for (const { id, pattern, cause, remedy, phases } of FAILURES) {
    if (phases !== undefined && !phases.includes(phase)) continue;
    const match = firstMatch(errors, pattern);
    if (match !== undefined) return { cause, remedy, lines, known: true, rule: id, ...match };
  }
  const pid = errors.find((line) => line.pid !== undefined)?.pid;
  return {
    ...unknown(lines.length > 0 ? lines : tail(logText), phase),
    ...(pid === undefined ? {} : { pid }),
  };
}

function firstMatch(
  errors: readonly LogLine[],
  pattern: RegExp,
): Pick<Explanation, "facts" | "pid"> | undefined {
  for (const { message, pid } of errors) {
    const groups = pattern.exec(message);
    if (groups === null) continue;
    const named = Object.entries(groups.groups ?? {}).filter(([, text]) => text !== undefined);
    return { facts: Object.fromEntries(named), ...(pid === undefined ? {} : { pid }) };
  }
  return undefined;
}

function tail(logText: string): string[] {
  return parseLog(logText)
    .slice(-TAIL_LINES)
    .map(({ raw }) => raw);
}

function unknown(lines: readonly string[], phase: Phase): Explanation {
  return {
    cause:
      lines.length > 0
        ? `unknown: the ${phase} failed for a reason not met before`
        : `unknown: the ${phase} failed and left no log`,
    lines,
    remedy: "Read the lines; run again with a higher logLevel for more of them",
    known: false,
    facts: {},
  };
}
