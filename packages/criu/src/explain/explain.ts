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
    if (match !== undefined) return { cause, remedy, lines, known: true, rule: id, facts: match };
  }
  return unknown(lines.length > 0 ? lines : tail(logText), phase);
}

function firstMatch(errors: readonly LogLine[], pattern: RegExp): Record<string, string> | undefined {
  for (const { message } of errors) {
    const match = pattern.exec(message);
    if (match !== null) return { ...match.groups };
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
