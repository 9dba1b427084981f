import { expect } from "vitest";
import { blindCases } from "../../src/audit/blind-spots.js";
import { TEST_HOME, testCriu } from "../helpers/criu.js";
import { agrees, predictionOf, type Seen } from "./outcome.js";
import { type CaseRecord, caseRecord, recordedCases, writeRecord } from "./record.js";
import { runCorpus } from "./run-corpus.js";

/**
 * Whether a run writes the record of this kernel instead of being held against it: all cases with DRUMS_RECORD=1, those
 * that a test takes anyhow with DRUMS_RECORD=part.
 */
export const RECORDING = process.env.DRUMS_RECORD === "1";
const RECORDING_A_PART = process.env.DRUMS_RECORD === "part";

/** What is compared. */
export interface Comparison {
  /** Only these cases. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** As `runCorpus` has it. */
  readonly patience?: number;
}

/** Runs the corpus with a version of CRIU: every case must come as the audit foretells, and as it was recorded. */
export async function compare(version: string, { only, patience = 1 }: Comparison = {}): Promise<void> {
  const seen = await runCorpus({
    criu: await testCriu(version),
    home: TEST_HOME,
    patience,
    ...(only === undefined ? {} : { only }),
  });
  const isWhole = only === undefined;
  if (RECORDING_A_PART || (RECORDING && isWhole)) writeRecord(version, seen, { isWhole });
  const blind = blindCases(version).filter((id) => seen.get(id)?.audit !== undefined);
  expect(wrong(seen).sort()).toEqual(blind.sort());
  const recorded = recordedCases(version);
  if (recorded === undefined) return; // a kernel that was not recorded: then the audit's word alone is tested
  const found = Object.fromEntries([...seen].map(([id, one]) => [id, caseRecord(one)]));
  const expected = only === undefined ? recorded : pick(recorded, only);
  expect(kinds(found)).toEqual(kinds(expected));
}

function pick<T>(all: Readonly<Record<string, T>>, ids: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(all).filter(([id]) => ids.includes(id)));
}

/** Cases that came otherwise than the audit foretold. */
function wrong(seen: ReadonlyMap<string, Seen>): string[] {
  return [...seen].flatMap(([id, { audit, outcome }]) =>
    audit === undefined || agrees(predictionOf(audit), outcome) ? [] : [id],
  );
}

/** What came, without the words: those of an explanation may change. */
function kinds(cases: Readonly<Record<string, CaseRecord>>): Record<string, string> {
  return Object.fromEntries(Object.entries(cases).map(([id, { outcome }]) => [id, outcome.kind]));
}
