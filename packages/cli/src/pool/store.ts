import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { z } from "zod";
import { checkpointFolder, listCheckpoints } from "../checkpoint/store.js";
import { codeOf } from "../errors.js";
import { type Home, readJsonFile, writeJsonFile } from "../home.js";
import { standingOf } from "../session/gc.js";
import type { SessionRecord } from "../session/record.js";
import { listSessionIds, type SessionFolder, sessionFolder } from "../session/store.js";

const poolSchema = z.object({
  version: z.literal(1),
  /** How many siblings are kept warm. */
  size: z.number().int().positive(),
});

/** A sibling that waits in a pool. */
export interface PooledSibling {
  readonly folder: SessionFolder;
  readonly record: SessionRecord;
}

/** The most that one pool keeps. */
export const MOST_POOLED = 256;

/** How many siblings of a checkpoint are to be kept warm; 0 where there is no pool. */
export async function poolSize(home: Home, checkpoint: string): Promise<number> {
  try {
    return (await readJsonFile(checkpointFolder(home, checkpoint).pool, poolSchema)).size;
  } catch (error) {
    if (codeOf(error) === "RECORD_MISSING") return 0;
    throw error;
  }
}

/** Says how many are to be kept from now on; 0 gives the pool up. What it holds is not touched. */
export async function setPoolSize(home: Home, checkpoint: string, size: number): Promise<void> {
  const { pool } = checkpointFolder(home, checkpoint);
  if (size === 0) await rm(pool, { force: true });
  else await writeJsonFile(pool, { version: 1, size });
}

/** The checkpoints of a home that have a pool. */
export async function listPools(home: Home): Promise<string[]> {
  return (await listCheckpoints(home)).filter((name) => existsSync(checkpointFolder(home, name).pool));
}

/** The warm siblings of a checkpoint, the oldest first. */
export async function warmSiblings(home: Home, checkpoint: string): Promise<PooledSibling[]> {
  const found: PooledSibling[] = [];
  for (const id of await listSessionIds(home)) {
    const folder = sessionFolder(home, id);
    const record = await folder.read().catch(() => undefined);
    if (record?.checkpoint !== checkpoint || record.pool?.state !== "warm") continue;
    if ((await standingOf(record)) === "pooled") found.push({ folder, record });
  }
  return found.sort((a, b) => a.record.createdAt.localeCompare(b.record.createdAt));
}
