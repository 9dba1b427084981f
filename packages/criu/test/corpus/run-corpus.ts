import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Criu } from "../../src/index.js";
import { type CorpusCase, corpusCases } from "./cases.js";
import type { Ground } from "./layers.js";
import type { Seen } from "./outcome.js";
import { makeLower, makeProgram, programCases } from "./program.js";
import { runCase } from "./run-case.js";

/** How the corpus is run. */
export interface CorpusOptions {
  readonly criu: Criu;
  /** Holds CRIU's own cache of this kernel. */
  readonly home: string;
  /** Only these cases. Default: all. */
  readonly only?: readonly string[];
  /** How many cases run at a time. Default 3: a case waits more than it computes. */
  readonly lanes?: number;
  /** How many times longer than on a fast machine a case is waited for. Default 1. */
  readonly patience?: number;
  readonly onCase?: (one: CorpusCase, seen: Seen) => void;
}

/** Runs every case with one CRIU. @returns by case id */
export async function runCorpus(options: CorpusOptions): Promise<Map<string, Seen>> {
  const { criu, home, only, lanes = 3, patience = 1, onCase } = options;
  const folder = await mkdtemp(join(tmpdir(), "drums-corpus-"));
  const ground: Ground = { folder, lower: join(folder, "lower"), program: join(folder, "corpus") };
  const seen = new Map<string, Seen>();
  try {
    await mkdir(ground.lower);
    await makeProgram(ground.program);
    await makeLower(ground.lower, ground.program);
    const all = corpusCases(await programCases(ground.program));
    const waiting = all.filter(({ id }) => only === undefined || only.includes(id));
    await inLanes(lanes, waiting, async (one) => {
      const found = await runCase(one, { ground, criu, home, patience });
      seen.set(one.id, found);
      onCase?.(one, found);
    });
    return new Map(all.flatMap(({ id }) => (seen.has(id) ? [[id, seen.get(id) as Seen] as const] : [])));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function inLanes<T>(lanes: number, items: T[], act: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
