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
  dumpedLimits,
  writeManifest,
} from "@drums/criu";
import { NAT } from "@drums/nsexec";
import { copyUpper, digestLayer, type UpperCopy } from "@drums/rootfs";
import { kernelCacheFor } from "../criu.js";
import { DrumsError, EXIT } from "../errors.js";
import { monotonicMs } from "../evidence/clock.js";
import type { Home } from "../home.js";
import { isAlive, type ProcessIdentity } from "../session/identity.js";
import { assertAwake } from "../session/open.js";
import type { SessionLayer, SessionRecord } from "../session/record.js";
import { sessionFolder } from "../session/store.js";
import { toPlace, withPlaces } from "./places.js";
import { type CheckpointFolder, makeCheckpoint } from "./store.js";

/** What a checkpoint came to. */
export interface CheckpointReport {
  readonly name: string;
  readonly path: string;
  readonly audit: Audit;
  readonly dump: DumpReport;
  readonly upper: UpperCopy;
  /** Open TCP connections that the session keeps and its siblings find closed. */
  readonly closedConnections: readonly ClosedConnection[];
  /** CLOCK_MONOTONIC, milliseconds, around CRIU's call. */
  readonly startedMs: number;
  readonly endedMs: number;
}

/** A TCP connection, named for people. */
export interface ClosedConnection {
  /** Both ends, such as `10.0.2.100:40000 to 192.0.2.1:443`. */
  readonly ends: string;
  /** The process that holds it. */
  readonly process: string;
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
  const { flags, remadeInterfaces } = networkFlags(session);
  const audit = await auditSettled({
    initPid: init.pid,
    criuVersion: criu.version,
    externals: session.externals,
    flags,
    remadeInterfaces,
  });
  await onAudit?.(audit);
  assertPassed(audit);
  refuseStrangers(session, audit);
  const closedConnections = connectionsOf(audit);
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
      flags,
      start: { mounts: cache.mounts },
      onNotify: ({ stage, criuPid }) => (stage === "pre-dump" ? cache.keep(criuPid) : undefined),
      onPostDump: async () => {
        copied = await copyUpper(upper, folder.upper);
      },
      ...(signal && { signal }),
    }).finally(() => onLog?.(join(folder.log, "dump.log")));
    const endedMs = monotonicMs();
    if (copied === undefined) throw noMoment(session);
    await describe(home, folder, session, { criu, report, closedConnections });
    return {
      name,
      path: home.entry("checkpoints", name),
      audit,
      dump: report,
      upper: copied,
      closedConnections,
      startedMs,
      endedMs,
    };
  });
}

/** What was entered from outside is no part of the tree: CRIU would leave it out, most often in silence. */
function refuseStrangers({ id }: SessionRecord, { findings }: Audit): void {
  const strangers = findings.filter(({ rule }) => rule === "task-outside-tree").map(({ object }) => object);
  if (strangers.length === 0) return;
  throw new DrumsError({
    code: "ENTERED",
    exitCode: EXIT.verdictFailed,
    what: `session ${id} cannot be frozen while something that was entered from outside runs in it`,
    why: `${strangers.join(", ")} would not be part of the checkpoint`,
    hint: "let it end, or start it through the session's init (drums exec)",
  });
}

/**
 * Without a network both ends of every TCP connection are in the dump, so siblings keep them. With one the far end may
 * lie outside, where it cannot go on twice: siblings find all closed.
 */
function networkFlags({ spec }: SessionRecord) {
  if (spec.network === "none") return { flags: { tcpEstablished: true }, remadeInterfaces: [] };
  return { flags: { tcpClose: true }, remadeInterfaces: [NAT.device] };
}

function connectionsOf({ findings }: Audit): ClosedConnection[] {
  return findings
    .filter(({ rule }) => rule === "tcp-closed")
    .map(({ object, process }) => ({ ends: object, process: process?.name ?? "unknown" }));
}

/** The manifest goes last: without it a checkpoint cannot be read. */
async function describe(
  home: Home,
  folder: CheckpointFolder,
  { id, spec, externals, lineage }: SessionRecord,
  {
    criu,
    report,
    closedConnections,
  }: {
    readonly criu: Criu;
    readonly report: DumpReport;
    readonly closedConnections: readonly ClosedConnection[];
  },
): Promise<void> {
  const upper: SessionLayer = {
    kind: "upper",
    path: folder.upper,
    digest: await digestLayer(folder.upper),
    idmap: false,
  };
  const place = (path: string) => toPlace(path, { home, folder });
  const placed = withPlaces({ ...spec, layers: [upper, ...spec.layers] }, place);
  await writeManifest(folder.path, {
    format: 1,
    createdAt: new Date().toISOString(),
    criu: { version: criu.version, digest: criu.digest },
    kernel: release(),
    flags: { ...report.flags },
    layers: [upper, ...spec.layers].map(({ path, digest }) => ({ name: place(path), digest })),
    externals: externals.map(({ mountPoint, key }) => ({ mountPoint, key })),
    limits: await dumpedLimits(folder.images),
    session: {
      ...placed,
      origin: { session: id, generation: lineage?.generation ?? 0 },
      closedConnections,
    },
    images: await listImages(folder.images),
  });
}

async function listImages(folder: string): Promise<{ name: string; bytes: number }[]> {
  const names = (await readdir(folder)).sort();
  return Promise.all(names.map(async (name) => ({ name, bytes: (await stat(join(folder, name))).size })));
}

async function livingInit(record: SessionRecord): Promise<ProcessIdentity> {
  const { id, init } = record;
  assertAwake(record);
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
