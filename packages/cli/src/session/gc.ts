import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { collectRoots } from "@drums/rootfs";
import { collectDeleted } from "../checkpoint/remove.js";
import { checkpointFolder, collectUnfinished } from "../checkpoint/store.js";
import { DrumsError, messageOf } from "../errors.js";
import { livingProcessHolders } from "../holder.js";
import type { Home } from "../home.js";
import { collectUnfinishedLayers } from "../layers/store.js";
import { collectTuning } from "../tuning/index.js";
import { isAlive } from "./identity.js";
import type { PoolMembership, SessionRecord } from "./record.js";
import { removeSession } from "./remove.js";
import { listSessionIds, sessionFolder } from "./store.js";

/** What a collection took down, and what it could not. */
export interface Collected {
  readonly sessions: string[];
  readonly checkpoints: string[];
  readonly roots: string[];
  /** Folders of layers that were never whole. */
  readonly layers: string[];
  /** Knobs of the machine that a killed fork had turned, now as they were. */
  readonly knobs: string[];
  readonly failures: string[];
}

/** How a session stands. `pooled`: stopped, for a fork to take. `dead`: its init, or the owner of its boot, is gone, and what is left of it is to be taken down. */
export type SessionStanding = "booting" | "running" | "pooled" | "dead";

/** Tells how a session stands from the processes that its record names, not from the record's own word. */
export async function standingOf(record: SessionRecord): Promise<SessionStanding> {
  if (record.state === "booting") return (await isAlive(record.owner)) ? "booting" : "dead";
  if (record.init === undefined || !(await isAlive(record.init))) return "dead";
  return record.pool === undefined ? "running" : poolStanding(record.pool);
}

/** One that is warm waits for a taker and needs no holder. */
async function poolStanding({ state, holder }: PoolMembership): Promise<SessionStanding> {
  return state === "warm" || (await isAlive(holder)) ? "pooled" : "dead";
}

/**
 * Takes down what killed processes and dead sessions left: sessions first, then checkpoints in the making, then mounts
 * that nobody holds. What lives is not touched. Goes on after a failure and reports it.
 */
export async function collectGarbage(home: Home): Promise<Collected> {
  const collected: Collected = {
    sessions: [],
    checkpoints: [],
    roots: [],
    layers: [],
    knobs: [],
    failures: [],
  };
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    await act().catch((error: unknown) => collected.failures.push(messageOf(error)));
  };
  for (const id of await listSessionIds(home))
    if (!(await isLiving(home, id)))
      await attempt(async () => {
        await removeSession(home, sessionFolder(home, id));
        collected.sessions.push(id);
      });
  await attempt(async () => {
    collected.checkpoints.push(...(await collectUnfinished(home)), ...(await collectDeleted(home)));
  });
  await attempt(async () => {
    collected.knobs.push(...(await collectTuning(home)));
  });
  await attempt(async () => {
    collected.layers.push(...(await collectUnfinishedLayers(home)));
  });
  await attempt(async () => {
    const { removed, failed } = await collectRoots({
      stateDir: home.path,
      liveHolders: async () => [...(await livingIds(home)), ...(await livingProcessHolders(home))],
    });
    collected.roots.push(...removed.map(({ id }) => id));
    collected.failures.push(...failed.map(({ id, reason }) => `root ${id}: ${reason}`));
  });
  return collected;
}

async function livingIds(home: Home): Promise<string[]> {
  const ids = await listSessionIds(home);
  const living = await Promise.all(ids.map((id) => isLiving(home, id)));
  return ids.filter((_, index) => living[index]);
}

/** A boot writes its record right after it made its folder; one that had so long and did not was killed between. */
const RECORD_GRACE_MS = 30_000;

async function isLiving(home: Home, id: string): Promise<boolean> {
  const folder = sessionFolder(home, id);
  try {
    const record = await folder.read();
    const standing = await standingOf(record);
    return standing !== "dead" && !(standing === "pooled" && isPoolGone(home, record));
  } catch (error) {
    if (error instanceof DrumsError && error.code === "RECORD_MISSING") return isYoung(folder.path);
    throw error;
  }
}

/** A pool that was given up while its taker was killed: nobody would take what is left of it. */
function isPoolGone(home: Home, { checkpoint, pool }: SessionRecord): boolean {
  return (
    pool?.state === "warm" &&
    (checkpoint === undefined || !existsSync(checkpointFolder(home, checkpoint).pool))
  );
}

async function isYoung(path: string): Promise<boolean> {
  const made = await stat(path).then(
    ({ birthtimeMs }) => birthtimeMs,
    () => 0,
  );
  return Date.now() - made < RECORD_GRACE_MS;
}
