import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DrumsError, EXIT } from "../errors.js";
import { type Home, writeJsonFile } from "../home.js";
import { standingOf } from "../session/gc.js";
import { listSessionIds, sessionFolder } from "../session/store.js";
import { type CheckpointFolder, checkpointFolder, isDeleted, listDeleted } from "./store.js";

/** What stands on a checkpoint's layers. */
export interface CheckpointUsers {
  readonly sessions: readonly string[];
  /** Checkpoints of its siblings. */
  readonly checkpoints: readonly string[];
  /** Those of the sessions that are being restored, and so read its images. */
  readonly restoring: readonly string[];
}

/** A checkpoint that is no more. */
export interface RemovedCheckpoint {
  readonly name: string;
  /** What its layers are kept for; they go with the last of these. */
  readonly keptFor: readonly string[];
}

/**
 * Deletes a checkpoint: no more siblings of it. Its images go at once; its layers stay while a session or another
 * checkpoint stands on them, and go with the last of these ({@link collectDeleted}).
 * @throws DrumsError CHECKPOINT_IN_USE while a sibling is being restored; the checkpoint then stays
 */
export async function removeCheckpoint(home: Home, name: string): Promise<RemovedCheckpoint> {
  const folder = checkpointFolder(home, name);
  // Said first: a restore writes its record and then asks, so one of the two sees the other.
  await writeJsonFile(folder.deleted, { deletedAt: new Date().toISOString() });
  const users = await checkpointUsers(home, name);
  if (users.restoring.length > 0) {
    await rm(folder.deleted);
    throw inUse(name, users.restoring);
  }
  await removeAllButLayers(folder);
  const keptFor = [...users.sessions, ...users.checkpoints];
  if (keptFor.length === 0) await rm(folder.path, { recursive: true });
  return { name, keptFor };
}

/** Takes away the layers of deleted checkpoints on which nothing stands any more; returns their names. */
export async function collectDeleted(home: Home): Promise<string[]> {
  const removed: string[] = [];
  for (const name of await listDeleted(home)) {
    const folder = checkpointFolder(home, name);
    const { sessions, checkpoints } = await checkpointUsers(home, name);
    if (sessions.length + checkpoints.length === 0) {
      await rm(folder.path, { recursive: true, force: true });
      removed.push(name);
    } else await removeAllButLayers(folder);
  }
  return removed;
}

/** The sessions and checkpoints that have a layer of this checkpoint. */
export async function checkpointUsers(home: Home, name: string): Promise<CheckpointUsers> {
  const folder = checkpointFolder(home, name);
  const sessions: string[] = [];
  const restoring: string[] = [];
  for (const id of await listSessionIds(home)) {
    const record = await sessionFolder(home, id)
      .read()
      .catch(() => undefined);
    if (!record?.spec.layers.some(({ path }) => path.startsWith(`${folder.path}/`))) continue;
    sessions.push(id);
    if ((await standingOf(record)) === "booting") restoring.push(id);
  }
  return { sessions, restoring, checkpoints: await checkpointsOn(home, folder) };
}

/** Manifests are read as text: one of another version still holds what it names. Unfinished ones count too. */
async function checkpointsOn(home: Home, folder: CheckpointFolder): Promise<string[]> {
  const needles = [`"home:checkpoints/${folder.name}/`, `"${folder.path}/`];
  const found: string[] = [];
  for (const name of (await readdir(home.checkpoints)).filter((one) => one !== folder.name)) {
    const text = await readFile(join(home.checkpoints, name, "checkpoint.json"), "utf8").catch(() => "");
    if (needles.some((needle) => text.includes(needle))) found.push(name);
  }
  return found;
}

async function removeAllButLayers({ path, upper, layers, deleted }: CheckpointFolder): Promise<void> {
  const kept = new Set([upper, layers, deleted]);
  for (const name of await readdir(path)) {
    const entry = join(path, name);
    if (!kept.has(entry)) await rm(entry, { recursive: true, force: true });
  }
}

/**
 * Refuses a restore from a checkpoint that was deleted since it was loaded. To be asked once the sibling's record names
 * the checkpoint's layers: from then on they are kept. @throws DrumsError CHECKPOINT_DELETED
 */
export function assertNotDeleted(home: Home, name: string): void {
  const folder = checkpointFolder(home, name);
  if (!isDeleted(folder) && existsSync(folder.path)) return;
  throw new DrumsError({
    code: "CHECKPOINT_DELETED",
    exitCode: EXIT.usage,
    what: `checkpoint ${name} was deleted while a sibling of it was to be made`,
    hint: "fork another checkpoint",
  });
}

function inUse(name: string, sessions: readonly string[]): DrumsError {
  return new DrumsError({
    code: "CHECKPOINT_IN_USE",
    exitCode: EXIT.usage,
    what: `checkpoint ${name} is in use`,
    why: `${sessions.join(", ")} is being restored from its images`,
    hint: "try again in a moment: once its siblings run it can be deleted beneath them",
  });
}
