import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { blindCases } from "../../src/audit/blind-spots.js";
import { DEFAULT_VERSION, PINNED_VERSIONS } from "../../src/index.js";
import { CRIU_NEEDS, TEST_HOME, testCriu } from "../helpers/criu.js";
import { agrees, predictionOf, type Seen } from "./outcome.js";
import { type CaseRecord, caseRecord, readRecords, recordedCases, writeRecord } from "./record.js";
import { runCorpus } from "./run-corpus.js";

const NEEDS = [...CRIU_NEEDS, "program:gcc", "program:mke2fs", "loop"] as const;
const RECORDING = process.env.DRUMS_RECORD === "1";

async function run(version: string, only?: readonly string[]): Promise<Map<string, Seen>> {
  return runCorpus({
    criu: await testCriu(version),
    home: TEST_HOME,
    sources: fileURLToPath(new URL("program", import.meta.url)),
    ...(only === undefined ? {} : { only }),
  });
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

async function compare(version: string, only?: readonly string[]): Promise<void> {
  const seen = await run(version, only);
  if (RECORDING && only === undefined) writeRecord(version, seen);
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

/** Cases that one version took otherwise than the default did, on any kernel that was recorded. */
function differing(version: string): string[] {
  const ids = readRecords().flatMap(({ versions }) => {
    const [own, common] = [versions[version] ?? {}, versions[DEFAULT_VERSION] ?? {}];
    return Object.keys(own).filter((id) => own[id]?.outcome.kind !== common[id]?.outcome.kind);
  });
  return [...new Set(ids)];
}

testNeeding(
  NEEDS,
  `with CRIU ${DEFAULT_VERSION} every case comes as the audit foretells, and as it was recorded`,
  () => compare(DEFAULT_VERSION),
  600_000,
);

for (const version of PINNED_VERSIONS.filter((one) => one !== DEFAULT_VERSION))
  testNeeding(
    NEEDS,
    `with CRIU ${version} what differs from ${DEFAULT_VERSION} comes as the audit foretells, and as recorded`,
    () => compare(version, RECORDING ? undefined : differing(version)),
    600_000,
  );
