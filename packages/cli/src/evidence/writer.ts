import { mkdir, open, readdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { codeOf, DrumsError, messageOf } from "../errors.js";
import { syncFolder } from "../home.js";
import { jsonText } from "../json.js";
import { monotonicMs } from "./clock.js";
import { openEventLog, type StepEvent } from "./events.js";
import { formatManifest, listContent, MANIFEST, sumFiles } from "./manifest.js";
import { attemptFolder, attemptNumber, checkRecordName } from "./names.js";
import { RECORD_VERSION } from "./records/common.js";
import type { RecordInput, RecordName } from "./records.js";
import { type StepRunner, stepRunner } from "./steps.js";

/** What a run is asked to do; every attempt's run.json repeats it. */
export type RunFacts = Omit<RecordInput<"run.json">, "attempt" | "startedAt" | "monotonicMs">;

/** A run's folder with its numbered attempts. */
export interface EvidenceRun {
  /** Absolute. */
  readonly path: string;
  /** Makes the next attempt's folder, one above the highest that exists, and writes its run.json. */
  beginAttempt(): Promise<Attempt>;
}

/** One attempt: a folder to which records are added and in which none is ever overwritten. */
export interface Attempt {
  readonly number: number;
  /** Absolute. Logs of programs may be written here directly; the manifest covers them. */
  readonly path: string;
  /** Writes a record that has a schema; the version is added. */
  record<N extends RecordName>(name: N, value: RecordInput<N>): Promise<void>;
  /** Writes any value as JSON; bigints become decimal strings. */
  json(name: string, value: unknown): Promise<void>;
  text(name: string, text: string): Promise<void>;
  file(name: string, content: Uint8Array): Promise<void>;
  /** Runs a step; its start and its end with outcome and duration are on disk as they happen. Passes on what the step throws. */
  step<T>(name: string, run: () => Promise<T> | T): Promise<T>;
  /** Writes the manifest, last of all, whatever became of the attempt. May be called again without effect. */
  close(): Promise<void>;
}

/**
 * Opens a run's folder, making it where it is missing.
 * @param options.onStep  told of every start and end of a step, for a progress display
 * @throws DrumsError EVIDENCE_WRITE
 */
export async function openEvidence(
  dir: string,
  facts: RunFacts,
  { onStep = () => {} }: { readonly onStep?: (event: StepEvent) => void } = {},
): Promise<EvidenceRun> {
  const path = resolve(dir);
  await writing(path, () => mkdir(join(path, "attempts"), { recursive: true }));
  return {
    path,
    beginAttempt: async () => {
      const folder = await nextAttempt(join(path, "attempts"));
      const attempt = await openAttempt(folder.path, folder.number, onStep);
      const begun = {
        attempt: folder.number,
        startedAt: new Date().toISOString(),
        monotonicMs: monotonicMs(),
      };
      await attempt.record("run.json", { ...facts, ...begun });
      return attempt;
    },
  };
}

/** Takes the first free number above all that exist. mkdir is the lock: of two writers one gets EEXIST and goes on. */
async function nextAttempt(attempts: string): Promise<{ path: string; number: number }> {
  const taken = (await readdir(attempts)).map((name) => attemptNumber(name) ?? 0);
  for (let number = Math.max(0, ...taken) + 1; ; number += 1) {
    const path = join(attempts, attemptFolder(number));
    try {
      await mkdir(path);
      return { path, number };
    } catch (cause) {
      if (codeOf(cause) !== "EEXIST") throw writeError(path, cause);
    }
  }
}

async function openAttempt(
  path: string,
  number: number,
  onStep: (event: StepEvent) => void,
): Promise<Attempt> {
  const steps = stepRunner(await writing(path, () => openEventLog(path)), onStep);
  let sealing: Promise<void> | undefined;
  const write = async (name: string, content: string | Uint8Array): Promise<void> => {
    if (sealing !== undefined) throw closedError(path, name);
    await writeNew(join(path, checkRecordName(name)), content);
  };
  const json = (name: string, value: unknown) => write(name, jsonText(value));
  return {
    number,
    path,
    json,
    record: (name, value) => json(name, { version: RECORD_VERSION, ...value }),
    text: write,
    file: write,
    step: async (name, run) => {
      if (sealing !== undefined) throw closedError(path, name);
      return steps.run(name, run);
    },
    close: () => {
      sealing ??= seal(path, steps);
      return sealing;
    },
  };
}

/** Writes a file that must not exist yet. A half-written one (full disk) is taken away: it would not be a record. */
async function writeNew(path: string, content: string | Uint8Array): Promise<void> {
  await writing(path, async () => {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, "wx", 0o644);
    try {
      await file.writeFile(content);
      await file.sync();
    } catch (cause) {
      await rm(path, { force: true });
      throw cause;
    } finally {
      await file.close();
    }
  });
}

async function seal(path: string, steps: StepRunner): Promise<void> {
  await steps.close();
  const { files } = await listContent(path);
  await writeNew(join(path, MANIFEST), formatManifest(await sumFiles(path, files)));
  await writing(path, () => syncFolder(path));
}

async function writing<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    throw cause instanceof DrumsError ? cause : writeError(path, cause);
  }
}

function writeError(path: string, cause: unknown): DrumsError {
  const hints: Record<string, string> = {
    EEXIST: "a record is never overwritten: begin a new attempt, or use another name",
    ENOSPC: "free space on that filesystem and run again",
    EACCES: "name a folder that you may write to by --out",
  };
  return new DrumsError({
    code: codeOf(cause) === "EEXIST" ? "EVIDENCE_EXISTS" : "EVIDENCE_WRITE",
    what: "cannot write evidence",
    where: path,
    why: messageOf(cause),
    hint: hints[codeOf(cause) ?? ""] ?? "check the folder, or name another by --out",
    cause,
  });
}

function closedError(path: string, name: string): DrumsError {
  return new DrumsError({
    code: "EVIDENCE_CLOSED",
    what: `${name} came after the attempt was closed`,
    where: path,
    hint: "write every record before close(): the manifest is the last",
  });
}
