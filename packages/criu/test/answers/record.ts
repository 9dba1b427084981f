import { readFileSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { fileURLToPath } from "node:url";
import type { Generation } from "./run.js";

const PATH = fileURLToPath(new URL("record.json", import.meta.url));

/** What one run of the experiments gave; docs/criu-answers.md is made of it. */
export interface Answers {
  readonly locks: {
    readonly original: Readonly<Record<string, string>>;
    readonly withFlag: Readonly<Record<string, string>>;
    readonly withoutFlag: Readonly<Record<string, string>>;
  };
  readonly clocks: {
    /** How long the dump lay before its restore. */
    readonly pauseMs: number;
    readonly original: Readonly<Record<string, number>>;
    readonly sibling: Readonly<Record<string, number>>;
  };
  readonly cold: {
    readonly cachedBefore: number;
    readonly cachedAfter: number;
    readonly warmMs: number;
    readonly coldMs: number;
  };
  readonly generations: readonly Generation[];
}

/** A run and the machine it was made on. */
export interface AnswersRecord extends Answers {
  readonly kernel: string;
  readonly criu: string;
}

export function readRecord(): AnswersRecord {
  return JSON.parse(readFileSync(PATH, "utf8")) as AnswersRecord;
}

/** With DRUMS_RECORD=1 what was seen is written down. */
export function record(answers: Partial<Answers>, criu: string): void {
  if (process.env.DRUMS_RECORD !== "1") return;
  const after = { ...readRecord(), kernel: release().replace(/-.*/, ""), criu, ...answers };
  writeFileSync(PATH, `${JSON.stringify(after, null, 2)}\n`);
}
