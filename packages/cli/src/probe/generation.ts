import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Criu } from "@drums/criu";
import { createCheckpoint } from "../checkpoint/create.js";
import type { LoadedCheckpoint } from "../checkpoint/load.js";
import type { BesideFolder } from "../evidence/records.js";
import type { Attempt } from "../evidence/writer.js";
import { restoreSibling, type Sibling } from "../fork/sibling.js";
import type { Home } from "../home.js";
import type { Step } from "../session/boot/steps.js";
import type { LiveSession } from "../session/open.js";
import { initOf, sight } from "./facts.js";

/** What dumps and restores of a course are made with. */
export interface GenerationTools {
  readonly home: Home;
  readonly attempt: Attempt;
  readonly criu: Criu;
  readonly signal?: AbortSignal | undefined;
}

/** Where and how a dump is recorded. */
export interface DumpRequest {
  /** Name of the checkpoint. */
  readonly name: string;
  /** Folder of its records with a slash at the end; empty for the original's. */
  readonly folder: "" | "second/";
  /** Runs the audit as a step of its own. */
  readonly step: Step;
}

/** Dumps a session into a checkpoint, with all that is known of it in the records. */
export async function recordDump(
  live: LiveSession,
  { home, attempt, criu, signal }: GenerationTools,
  { name, folder, step }: DumpRequest,
): Promise<void> {
  const report = await createCheckpoint(home, live.record, {
    name,
    criu,
    onAudit: ({ verdict, durationMs, findings }) =>
      step("audit", () =>
        attempt.record(`${folder}audit.json`, {
          verdict,
          durationMs,
          findings: findings.map((one) => ({ ...one })),
        }),
      ),
    onLog: (path) => keepFile(attempt, `${folder}dump.log`, path),
    signal,
  });
  const { dump, upper, startedMs, endedMs } = report;
  await attempt.record(`${folder}dump.json`, {
    criu: { version: criu.version, source: criu.source, digest: criu.digest },
    options: { ...dump.flags, leaveRunning: true },
    startedMs,
    endedMs,
    report: { frozenMs: dump.frozenMs, totalMs: dump.totalMs, bytes: dump.bytes },
    upper: { bytes: upper.bytes, reflink: upper.reflink },
    original: await sight(initOf(live)),
  });
}

/** Restores one sibling of a checkpoint; CRIU's log is kept whatever becomes of it. */
export async function recordRestore(
  checkpoint: LoadedCheckpoint,
  { home, attempt, criu, signal }: GenerationTools,
  { folder, ids }: { readonly folder: BesideFolder; readonly ids: string[] },
): Promise<Sibling> {
  const sibling = await restoreSibling(home, checkpoint, {
    criu,
    onFailed: ({ restore }) => keepFile(attempt, `${folder}/restore.log`, join(restore, "restore.log")),
    onCreated: ({ id }) => {
      ids.push(id);
    },
    signal,
  });
  const { report, startedMs, endedMs } = sibling;
  await keepFile(attempt, `${folder}/restore.log`, report.logFile);
  await attempt.record(`${folder}/restore.json`, {
    pid: report.pid,
    startTime: report.startTime,
    startedMs,
    endedMs,
    criu: criu.version,
  });
  return sibling;
}

/** A log of the host's own making; one that was never written is not there. */
async function keepFile(attempt: Attempt, name: string, path: string): Promise<void> {
  const content = await readFile(path).catch(() => undefined);
  if (content !== undefined) await attempt.file(name, content);
}
