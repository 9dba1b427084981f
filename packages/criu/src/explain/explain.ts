import { CriuError } from "../errors.js";
import { errorLines, type LogLine, parseLog } from "./log.js";
import { FAILURES, type FailureRule, type Phase } from "./rules.js";

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
 * Explains a failed call by its log: by the first of its error lines that a rule knows, as what follows a failure is
 * often of its making. Never empty: an unknown failure carries the log's tail and says "unknown".
 * @param logText the content of CRIU's log, and what it wrote to stderr
 */
export function explainFailure(logText: string, { phase }: { readonly phase: Phase }): Explanation {
  const errors = errorLines(logText);
  const lines = errors.slice(0, MAX_LINES).map(({ raw }) => raw);
  const rules = FAILURES.filter(({ phases }) => phases?.includes(phase) ?? true);
  for (const line of errors)
    for (const rule of rules) {
      const facts = factsOf(line, rule);
      if (facts === undefined) continue;
      const { id, cause, remedy } = rule;
      return {
        ...{ cause, remedy, lines, known: true, rule: id },
        facts: { ...dumpedTask(errors), ...facts },
        ...pidOf(line),
      };
    }
  const named = errors.find(({ pid }) => pid !== undefined);
  const shown = lines.length > 0 ? lines : tail(logText);
  return { ...unknown(shown, phase), facts: dumpedTask(errors), ...pidOf(named) };
}

/** Whether a failure is of a moment that passes by itself, so that the same call is worth another try. */
export function passesByItself(error: unknown): boolean {
  const rule = error instanceof CriuError ? error.explanation?.rule : undefined;
  return FAILURES.some(({ id, passes }) => passes === true && id === rule);
}

/** The host pid of the task at which a dump ended: `Dump files (pid: 4711) failed with -1` (criu/cr-dump.c). */
function dumpedTask(errors: readonly LogLine[]): Explanation["facts"] {
  for (const { message } of errors) {
    const pid = /^(?:Dump|Collect) .*\(pid: (\d+)\) failed with/.exec(message)?.[1];
    if (pid !== undefined) return { pid };
  }
  return {};
}

/** What a line names, where the rule knows it. */
function factsOf({ message }: LogLine, { pattern }: FailureRule): Explanation["facts"] | undefined {
  const match = pattern.exec(message);
  if (match === null) return undefined;
  return Object.fromEntries(Object.entries(match.groups ?? {}).filter(([, text]) => text !== undefined));
}

function pidOf(line: LogLine | undefined): Pick<Explanation, "pid"> {
  return line?.pid === undefined ? {} : { pid: line.pid };
}

function tail(logText: string): string[] {
  return parseLog(logText)
    .slice(-TAIL_LINES)
    .map(({ raw }) => raw);
}

function unknown(lines: readonly string[], phase: Phase): Omit<Explanation, "facts"> {
  return {
    cause:
      lines.length > 0
        ? `unknown: the ${phase} failed for a reason not met before`
        : `unknown: the ${phase} failed and left no log`,
    lines,
    remedy: "Read the lines; run again with a higher logLevel for more of them",
    known: false,
  };
}
