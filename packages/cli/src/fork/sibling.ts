import { closeSync } from "node:fs";
import type { Group } from "@drums/cgroup2";
import { type Criu, passesByItself, type RestoreReport, restore } from "@drums/criu";
import type { FreshMachine } from "@drums/nsexec";
import { readMountinfo } from "@drums/nsexec/proc";
import { mountRoot, verifyOverlay } from "@drums/rootfs";
import type { LoadedCheckpoint } from "../checkpoint/load.js";
import { assertNotDeleted } from "../checkpoint/remove.js";
import { kernelCacheFor } from "../criu.js";
import { DrumsError, messageOf } from "../errors.js";
import { monotonicMs } from "../evidence/clock.js";
import type { Home } from "../home.js";
import { refusal } from "../session/boot/handshake.js";
import { sessionPlan } from "../session/boot/plan.js";
import { type IdentityOptions, newLineage, reintroduce } from "../session/clone-identity.js";
import type { FrameParser } from "../session/frame-parser.js";
import { createSessionGroup } from "../session/group.js";
import { identify } from "../session/identity.js";
import { checkLimits } from "../session/limits.js";
import { type LiveSession, openSession } from "../session/open.js";
import type { PoolMembership, SessionRecord, SessionSpec } from "../session/record.js";
import { removeSession } from "../session/remove.js";
import { createSessionFolder, type SessionFolder } from "../session/store.js";
import { type RestoreStages, restoreStages } from "./stages.js";

/**
 * On the /run of CRIU's own mount namespace. CRIU opens externals as a root of the sibling's user namespace, to whom
 * the folders of a home are closed.
 */
const RESTORE_SCRATCH = "/run/drums-scratch";

/** A restored sibling. The caller closes `live`; the session itself outlives this process. */
export interface Sibling {
  readonly folder: SessionFolder;
  readonly live: LiveSession;
  readonly report: RestoreReport;
  /** CLOCK_MONOTONIC, milliseconds, around CRIU's call. */
  readonly startedMs: number;
  readonly endedMs: number;
  /** The machine's ids that were made anew, where asked for. */
  readonly fresh?: FreshMachine;
  /** Why tries before this one failed. */
  readonly retries: readonly string[];
}

/** How a sibling is restored. */
export interface RestoreSiblingOptions extends IdentityOptions {
  readonly criu: Criu;
  /** The kernel may merge its memory with that of others (docs/fork-at-scale.md). Default false. */
  readonly merge?: boolean;
  /** Of a sibling that is made for a pool; in its record from the first. Default: none. */
  readonly pool?: PoolMembership;
  /** Shared by siblings, which begin with one picture. Default: one of its own. */
  readonly frames?: FrameParser;
  /** Told of the sibling's folder before anything else of it exists. */
  readonly onCreated?: (folder: SessionFolder) => void;
  /** Called when it failed, before its folder with CRIU's log in it is removed. */
  readonly onFailed?: (folder: SessionFolder) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/** How often a restore is tried that fails for something that passes by itself. */
const TRIES = 4;

/**
 * Restores one sibling of a checkpoint onto a fresh upper, in a cgroup of its own. Nothing is mounted on the host:
 * the overlay lives in CRIU's private mount namespace and then in the sibling's own. What failed for a moment that
 * passes by itself is taken down and done again as another sibling.
 * On failure nothing of the sibling is left. @throws CriuError, DrumsError SIBLING_REFUSED
 */
export async function restoreSibling(
  home: Home,
  checkpoint: LoadedCheckpoint,
  options: RestoreSiblingOptions,
): Promise<Sibling> {
  const retries: string[] = [];
  for (;;) {
    try {
      return { ...(await restoreOnce(home, checkpoint, options, retries.length + 1 < TRIES)), retries };
    } catch (error) {
      if (!passesByItself(error) || retries.length + 1 >= TRIES) throw error;
      retries.push(messageOf(error));
    }
  }
}

async function restoreOnce(
  home: Home,
  checkpoint: LoadedCheckpoint,
  { criu, frames, merge = false, pool, onCreated, onFailed, signal, ...identity }: RestoreSiblingOptions,
  hasMoreTries: boolean,
): Promise<Omit<Sibling, "retries">> {
  const folder = await createSessionFolder(home, checkpoint.spec.desktop);
  onCreated?.(folder);
  try {
    const record = await firstRecord(folder, checkpoint, pool);
    assertNotDeleted(home, checkpoint.name);
    const stages = restoreStages(folder, record);
    const restored = await restoreInto(home, folder, checkpoint, { criu, merge, signal, stages });
    const { pid, startTime } = restored.report;
    const network = stages.network();
    const restoredRecord: SessionRecord = {
      ...record,
      init: { pid, startTime: String(startTime) },
      externals: [...restored.externals],
      ...(restored.group && { cgroup: [...restored.group.parts] }),
      ...(network && { network }),
    };
    await folder.write(restoredRecord);
    await checkSibling(folder, { pid, group: restored.group, spec: record.spec });
    const live = await openSession({ ...restoredRecord, state: "running" }, { ...(frames && { frames }) });
    const fresh = await reintroduce(live, identity).catch((error: unknown) => {
      live.close();
      throw error;
    });
    await folder.write(live.record);
    const { report, startedMs, endedMs } = restored;
    return { folder, live, report, startedMs, endedMs, ...(fresh && { fresh }) };
  } catch (error) {
    if (!(hasMoreTries && passesByItself(error))) await onFailed?.(folder);
    await removeSession(home, folder);
    throw error;
  }
}

async function firstRecord(
  folder: SessionFolder,
  { name, spec, origin }: LoadedCheckpoint,
  pool: PoolMembership | undefined,
): Promise<SessionRecord> {
  const record: SessionRecord = {
    version: 1,
    id: folder.id,
    state: "booting",
    createdAt: new Date().toISOString(),
    owner: await identify(process.pid),
    spec: { ...spec, hostname: folder.id },
    externals: [],
    checkpoint: name,
    lineage: newLineage(origin),
    ...(pool && { pool }),
  };
  await folder.write(record);
  return record;
}

async function restoreInto(
  home: Home,
  folder: SessionFolder,
  { spec, images, flags }: LoadedCheckpoint,
  { criu, merge = false, signal, stages }: RestoreSiblingOptions & { readonly stages: RestoreStages },
) {
  const root = await mountRoot({ image: spec.image.path, stateDir: home.path, holder: folder.id });
  const group = await createSessionGroup(folder, spec);
  const { plan, externals } = await sessionPlan({ spec, folder, root }, { scratch: RESTORE_SCRATCH });
  const cache = await kernelCacheFor(home, criu);
  const cgroupFd = group?.openFd();
  const startedMs = monotonicMs();
  try {
    const report = await restore({
      criu,
      imagesDir: images,
      workDir: folder.restore,
      root: plan.root,
      hostMounts: [...cache.mounts, { kind: "folder", path: RESTORE_SCRATCH }, ...plan.hostMounts],
      ...(plan.idMap && { idMap: plan.idMap }),
      externals,
      flags,
      mergeMemory: merge,
      onNotify: stages.onNotify,
      ...(cgroupFd === undefined ? {} : { cgroupFd }),
      ...(signal && { signal }),
    });
    return { report, externals, group, startedMs, endedMs: monotonicMs() };
  } finally {
    if (cgroupFd !== undefined) closeSync(cgroupFd);
  }
}

/** What the host sees of the restored tree: the overlay and limits that were asked for, the cgroup that it was born in. */
async function checkSibling(
  folder: SessionFolder,
  {
    pid,
    group,
    spec,
  }: { readonly pid: number; readonly group: Group | undefined; readonly spec: SessionSpec },
): Promise<void> {
  const overlay = verifyOverlay(await readMountinfo(pid), "/", { upper: folder.upper });
  if (!overlay.ok) throw refused(folder, overlay.detail);
  if (group !== undefined && !group.procs().includes(pid))
    throw refused(folder, `${group.path}/cgroup.procs does not list its init ${pid}`);
  const broken = refusal(await checkLimits(group, spec));
  if (broken !== undefined) throw refused(folder, broken);
}

function refused({ id }: SessionFolder, why: string): DrumsError {
  return new DrumsError({
    code: "SIBLING_REFUSED",
    what: `sibling ${id} is not what was asked for`,
    why,
    hint: "keep all layers on one filesystem that has a UUID, and leave the cgroups below drums/ alone",
  });
}
