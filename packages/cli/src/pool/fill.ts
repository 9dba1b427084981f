import type { Criu } from "@drums/criu";
import { capacityOf, siblingNeeds } from "../capacity/index.js";
import { type LoadedCheckpoint, loadCheckpoint } from "../checkpoint/load.js";
import { codeOf } from "../errors.js";
import { restoreSibling } from "../fork/sibling.js";
import { assertUsable } from "../fork/usable.js";
import type { Home } from "../home.js";
import { withLock } from "../lock.js";
import { thisMachine } from "../preflight/index.js";
import { identify } from "../session/identity.js";
import type { PoolMembership } from "../session/record.js";
import { removeSession } from "../session/remove.js";
import { stopProcesses } from "../session/stop.js";
import { listPools, poolSize, warmSiblings } from "./store.js";

/** How pools are filled. */
export interface FillOptions {
  /** The CRIU that restores a checkpoint's siblings. */
  readonly criuOf: (checkpoint: string) => Promise<Criu>;
  /** Told of each sibling that is warm. */
  readonly onWarm?: (id: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Who fills pools does so alone: one restore at a time, beside whatever else the machine does. */
const LOCK = "pools-fill";
/** A sibling runs for so long with a still screen before it is stopped: what it needs first is then in memory. */
const WARM_MS = 500;
/** Another one that fills looks again before it ends, so it need not be waited for. */
const LOCK_WAIT_MS = 2_000;

/**
 * Fills every pool of a home up to its size, one sibling after another, as far as there is room. Returns the ids of
 * those that it made; none where another process fills them.
 */
export async function fillPools(home: Home, options: FillOptions): Promise<string[]> {
  const made: string[] = [];
  const fill = async () => {
    for (;;) {
      const checkpoint = await neediest(home);
      if (checkpoint === undefined) return;
      const criu = await options.criuOf(checkpoint);
      const loaded = await loadCheckpoint(home, checkpoint, { criu });
      if (!(await hasRoom(home, loaded))) return;
      made.push(await addWarm(home, loaded, { ...options, criu }));
    }
  };
  await withLock(home, LOCK, fill, { timeoutMs: LOCK_WAIT_MS }).catch((error: unknown) => {
    if (codeOf(error) !== "LOCKED") throw error;
  });
  return made;
}

/** Runs `body` while nobody fills a pool. @throws DrumsError LOCKED */
export function whileNobodyFills<T>(home: Home, body: () => Promise<T>): Promise<T> {
  return withLock(home, LOCK, body, { timeoutMs: 30_000 });
}

/** The checkpoint whose pool lacks most. */
async function neediest(home: Home): Promise<string | undefined> {
  const pools = await Promise.all(
    (await listPools(home)).map(async (name) => ({
      name,
      lacks: (await poolSize(home, name)) - (await warmSiblings(home, name)).length,
    })),
  );
  return pools.filter(({ lacks }) => lacks > 0).sort((a, b) => b.lacks - a.lacks)[0]?.name;
}

async function hasRoom(home: Home, checkpoint: LoadedCheckpoint): Promise<boolean> {
  const needs = await siblingNeeds(checkpoint);
  return capacityOf(needs, { home: home.path, machine: thisMachine }).fits > 0;
}

async function addWarm(
  home: Home,
  checkpoint: LoadedCheckpoint,
  { criu, onWarm, signal }: Omit<FillOptions, "criuOf"> & { readonly criu: Criu },
): Promise<string> {
  const holder = await identify(process.pid);
  const pool: PoolMembership = { state: "filling", holder, stopped: [] };
  const { live, folder, report } = await restoreSibling(home, checkpoint, { criu, pool, signal });
  try {
    await assertUsable(live, { settleMs: WARM_MS, signal });
    live.close();
    const stopped = await stopProcesses({ pid: report.pid, startTime: String(report.startTime) });
    await folder.write({ ...live.record, pool: { ...pool, state: "warm", stopped } });
  } catch (error) {
    live.close();
    await removeSession(home, folder);
    throw error;
  }
  onWarm?.(folder.id);
  return folder.id;
}
