import { readFileSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { fileURLToPath } from "node:url";
import type { Outcomes } from "./run.js";

const PATH = fileURLToPath(new URL("record.json", import.meta.url));

/** A session of a kind, and who makes the attempts: such as `hardened session root`. */
export type Column = `${"hardened" | "compat"} ${"session" | "sibling"} ${"user" | "root"}`;

/** A run of the whole suite as it was seen. */
export interface EscapeRecord {
  /** uname -r of the machine. */
  readonly kernel: string;
  readonly outcomes: Partial<Record<Column, Outcomes>>;
}

export function readRecord(): EscapeRecord {
  return JSON.parse(readFileSync(PATH, "utf8")) as EscapeRecord;
}

/** With DRUMS_RECORD=1 what was seen is written down; the page is made of it by `pnpm generate`. */
export function record(column: Column, outcomes: Outcomes): void {
  if (process.env.DRUMS_RECORD !== "1") return;
  const before = readRecord();
  const kept = before.kernel === release() ? before.outcomes : {};
  const after: EscapeRecord = { kernel: release(), outcomes: { ...kept, [column]: outcomes } };
  writeFileSync(PATH, `${JSON.stringify(after, null, 2)}\n`);
}

/**
 * How outcomes differ from the record's: by each attempt on the same kernel, else by whether it succeeds, because
 * kernels differ in what they have to refuse.
 */
export function differences(column: Column, outcomes: Outcomes): string[] {
  const { kernel, outcomes: recorded } = readRecord();
  const known = recorded[column];
  if (known === undefined) return [`${column} was never recorded: run the tests with DRUMS_RECORD=1`];
  const shown = (outcome: string | undefined) =>
    kernel === release() || outcome === "SUCCEEDS" ? outcome : "held";
  return Object.entries(outcomes)
    .filter(([name, outcome]) => shown(outcome) !== shown(known[name as keyof Outcomes]))
    .map(([name, outcome]) => `${name}: ${outcome}, recorded ${known[name as keyof Outcomes]}`);
}
