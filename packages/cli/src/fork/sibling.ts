import { closeSync } from "node:fs";
import { type Criu, type RestoreReport, restore } from "@drums/criu";
import { readMountinfo } from "@drums/nsexec/proc";
import { mountRoot, verifyOverlay } from "@drums/rootfs";
import type { LoadedCheckpoint } from "../checkpoint/load.js";
import { kernelCacheFor } from "../criu.js";
import { DrumsError } from "../errors.js";
import { monotonicMs } from "../evidence/clock.js";
import type { Home } from "../home.js";
import { sessionPlan } from "../session/boot/plan.js";
import { createSessionGroup } from "../session/group.js";
import { identify } from "../session/identity.js";
import { type LiveSession, openSession } from "../session/open.js";
import type { SessionRecord } from "../session/record.js";
import { removeSession } from "../session/remove.js";
import { createSessionFolder, type SessionFolder } from "../session/store.js";

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
}

/** How a sibling is restored. */
export interface RestoreSiblingOptions {
  readonly criu: Criu;
  /** Told of the sibling's folder before anything else of it exists. */
  readonly onCreated?: (folder: SessionFolder) => void;
  /** Called when it failed, before its folder with CRIU's log in it is removed. */
  readonly onFailed?: (folder: SessionFolder) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Restores one sibling of a checkpoint onto a fresh upper, in a cgroup of its own. Nothing is mounted on the host:
 * the overlay lives in CRIU's private mount namespace and then in the sibling's own.
 * On failure nothing of the sibling is left. @throws CriuError, DrumsError SIBLING_REFUSED
 */
export async function restoreSibling(
  home: Home,
  checkpoint: LoadedCheckpoint,
  { criu, onCreated, onFailed, signal }: RestoreSiblingOptions,
): Promise<Sibling> {
  const folder = await createSessionFolder(home, checkpoint.spec.desktop);
  onCreated?.(folder);
  try {
    const record = await firstRecord(folder, checkpoint);
    const restored = await restoreInto(home, folder, checkpoint, { criu, signal });
    const { pid, startTime } = restored.report;
    const running: SessionRecord = {
      ...record,
      state: "running",
      init: { pid, startTime: String(startTime) },
      externals: [...restored.externals],
      ...(restored.cgroup && { cgroup: restored.cgroup }),
    };
    await folder.write(running);
    await checkOverlay(folder, pid);
    const { report, startedMs, endedMs } = restored;
    return { folder, live: await openSession(running), report, startedMs, endedMs };
  } catch (error) {
    await onFailed?.(folder);
    await removeSession(home, folder);
    throw error;
  }
}

async function firstRecord(folder: SessionFolder, { name, spec }: LoadedCheckpoint): Promise<SessionRecord> {
  const record: SessionRecord = {
    version: 1,
    id: folder.id,
    state: "booting",
    createdAt: new Date().toISOString(),
    owner: await identify(process.pid),
    spec,
    externals: [],
    checkpoint: name,
  };
  await folder.write(record);
  return record;
}

async function restoreInto(
  home: Home,
  folder: SessionFolder,
  { spec, images, flags }: LoadedCheckpoint,
  { criu, signal }: RestoreSiblingOptions,
) {
  const root = await mountRoot({ image: spec.image.path, stateDir: home.path, holder: folder.id });
  const group = await createSessionGroup(folder);
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
      ...(cgroupFd === undefined ? {} : { cgroupFd }),
      ...(signal && { signal }),
    });
    return { report, externals, cgroup: group && [...group.parts], startedMs, endedMs: monotonicMs() };
  } finally {
    if (cgroupFd !== undefined) closeSync(cgroupFd);
  }
}

async function checkOverlay(folder: SessionFolder, pid: number): Promise<void> {
  const overlay = verifyOverlay(await readMountinfo(pid), "/", { upper: folder.upper });
  if (overlay.ok) return;
  throw new DrumsError({
    code: "SIBLING_REFUSED",
    what: `sibling ${folder.id} does not have the overlay that was asked for`,
    why: overlay.detail,
    hint: "the kernel fell back to weaker options; keep all layers on one filesystem that has a UUID",
  });
}
