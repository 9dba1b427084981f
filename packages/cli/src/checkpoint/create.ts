import { readdir, stat } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import {
  type Audit,
  assertPassed,
  auditSettled,
  type Criu,
  type DumpReport,
  dump,
  writeManifest,
} from "@drums/criu";
import { copyUpper, digestLayer, type UpperCopy } from "@drums/rootfs";
import { kernelCacheFor } from "../criu.js";
import { DrumsError, EXIT } from "../errors.js";
import { monotonicMs } from "../evidence/clock.js";
import type { Home } from "../home.js";
import { isAlive, type ProcessIdentity } from "../session/identity.js";
import type { SessionLayer, SessionRecord } from "../session/record.js";
import { sessionFolder } from "../session/store.js";
import { type CheckpointFolder, checkpointFolder, makeCheckpoint } from "./store.js";

/** What a checkpoint came to. */
export interface CheckpointReport {
  readonly name: string;
  readonly path: string;
  readonly audit: Audit;
  readonly dump: DumpReport;
  readonly upper: UpperCopy;
  /** CLOCK_MONOTONIC, milliseconds, around CRIU's call. */
  readonly startedMs: number;
  readonly endedMs: number;
}

/** How a checkpoint is made. */
export interface CheckpointOptions {
  readonly name: string;
  readonly criu: Criu;
  /** Told of the audit before the dump. */
  readonly onAudit?: (audit: Audit) => Promise<void>;
  /** Called with CRIU's log whatever became of the dump, before a failed one's folder is removed. */
  readonly onLog?: (path: string) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Freezes a session into a checkpoint and lets it run on: audit, dump, and the upper copied at the moment at which
 * all tasks are still frozen, so that memory and files are one. On any failure the session runs on and nothing is left.
 * @throws DrumsError SESSION_DEAD, CHECKPOINT_EXISTS; CriuError AUDIT_REFUSED before anything is done, and of the dump
 */
export async function createCheckpoint(
  home: Home,
  session: SessionRecord,
  { name, criu, onAudit, onLog, signal }: CheckpointOptions,
): Promise<CheckpointReport> {
  const init = await livingInit(session);
  const externals = session.externals.map(({ mountPoint, key }) => ({ mountPoint, key }));
  const audit = await auditSettled({ initPid: init.pid, externals: session.externals });
  await onAudit?.(audit);
  assertPassed(audit);
  const cache = await kernelCacheFor(home, criu);
  return makeCheckpoint(home, name, async (folder) => {
    const upper = sessionFolder(home, session.id).upper;
    let copied: UpperCopy | undefined;
    const startedMs = monotonicMs();
    const report = await dump({
      criu,
      pid: init.pid,
      imagesDir: folder.images,
      workDir: folder.log,
      externals,
      start: { mounts: cache.mounts },
      onNotify: ({ stage, criuPid }) => (stage === "pre-dump" ? cache.keep(criuPid) : undefined),
      onPostDump: async () => {
        copied = await copyUpper(upper, folder.upper);
      },
      ...(signal && { signal }),
    }).finally(() => onLog?.(join(folder.log, "dump.log")));
    const endedMs = monotonicMs();
    if (copied === undefined) throw noMoment(session);
    await describe(home, folder, session, { criu, report });
    return {
      name,
      path: home.entry("checkpoints", name),
      audit,
      dump: report,
      upper: copied,
      startedMs,
      endedMs,
    };
  });
}

/** The manifest goes last: without it a checkpoint cannot be read. */
async function describe(
  home: Home,
  folder: CheckpointFolder,
  { spec, externals }: SessionRecord,
  { criu, report }: { readonly criu: Criu; readonly report: DumpReport },
): Promise<void> {
  const upper: SessionLayer = {
    kind: "upper",
    path: checkpointFolder(home, folder.name).upper,
    digest: await digestLayer(folder.upper),
    idmap: false,
  };
  const layers = [upper, ...spec.layers];
  await writeManifest(folder.path, {
    format: 1,
    createdAt: new Date().toISOString(),
    criu: { version: criu.version, digest: criu.digest },
    kernel: release(),
    flags: { ...report.flags },
    layers: layers.map(({ path, digest }) => ({ name: path, digest })),
    externals: externals.map(({ mountPoint, key }) => ({ mountPoint, key })),
    limits: {},
    session: { ...spec, layers },
    images: await listImages(folder.images),
  });
}

async function listImages(folder: string): Promise<{ name: string; bytes: number }[]> {
  const names = (await readdir(folder)).sort();
  return Promise.all(names.map(async (name) => ({ name, bytes: (await stat(join(folder, name))).size })));
}

async function livingInit({ id, init }: SessionRecord): Promise<ProcessIdentity> {
  if (init !== undefined && (await isAlive(init))) return init;
  throw new DrumsError({
    code: "SESSION_DEAD",
    exitCode: EXIT.usage,
    what: `session ${id} is not running, so there is nothing to dump`,
    hint: "`drums ps` shows which sessions run",
  });
}

function noMoment({ id }: SessionRecord): DrumsError {
  return new DrumsError({
    code: "NO_POST_DUMP",
    what: `CRIU dumped session ${id} without telling of the moment at which all is frozen`,
    why: "the upper could not be copied in one moment with the memory, so the checkpoint would be torn",
    hint: "use the CRIU version that drums installs",
  });
}
