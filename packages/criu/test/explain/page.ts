import type { FailureRule } from "../../src/index.js";
import { table } from "../helpers/table.js";

const FOUND_BY: Readonly<Record<NonNullable<FailureRule["named"]>, string>> = {
  pid: "its pid",
  fd: "the descriptor and what it is open on",
  socket: "the socket",
  path: "the file that it has open",
};

/** docs/criu-failures.md, of the rules. */
export function renderPage(rules: readonly FailureRule[]): string {
  return `# Failures of a dump or restore, explained

What CRIU's log says, why, and what to do. This page is made from the rules of packages/criu/src/explain/rules.ts; each has
a test from CRIU's exact words, and whatever the test corpus sees refused ([criu-matrix.md](criu-matrix.md)) is explained by
one of them. The first line of the log that a rule knows explains the failure. In a failed dump the process is found in
/proc by what the last column says, or by the pid of the task at which CRIU gave up; in a failed restore by the pid of the
log's line and its name in the images. A failure that no rule knows says "unknown" and carries the log's end.

${table(
  ["rule", "at", "cause", "remedy", "process found by"],
  rules.map(({ id, phases, cause, remedy, named, passes }) => [
    `\`${id}\``,
    phases?.join(", ") ?? "any",
    cause,
    passes === true ? `${remedy}; drums does, and counts it` : remedy,
    named === undefined ? "" : FOUND_BY[named],
  ]),
)}`;
}
