import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, DrumsError, EXIT } from "../errors.js";
import { type Home, readJsonFile, writeJsonFile } from "../home.js";
import { identify, identitySchema, isAlive } from "../session/identity.js";

/** The files of one checkpoint, `checkpoints/<name>/`. */
export interface CheckpointFolder {
  readonly name: string;
  readonly path: string;
  /** CRIU's images. */
  readonly images: string;
  /** The session's upper as it was at the dump's moment: a read-only layer for siblings. */
  readonly upper: string;
  /** Further layers that came with an imported checkpoint, by number. */
  readonly layers: string;
  /** What its layers' digests were when they were last read. */
  readonly digests: string;
  /** How many siblings are kept warm, where there is a pool. */
  readonly pool: string;
  /** CRIU's log and statistics of the dump. */
  readonly log: string;
  /** Says that the checkpoint is deleted and that its layers alone are kept. */
  readonly deleted: string;
}

const UNFINISHED = ".unfinished";
/** Says who makes an unfinished checkpoint, so that `drums gc` spares the living. */
const OWNER = "owner.json";

/** The folder of a checkpoint by its name. Touches no file. Throws DrumsError BAD_NAME. */
export function checkpointFolder(home: Home, name: string): CheckpointFolder {
  return folderAt(name, home.entry("checkpoints", name));
}

/**
 * Makes a checkpoint whole or not at all: `fill` works in a folder of another name, which gets the checkpoint's
 * own name when it is done and is removed when it fails.
 * @throws DrumsError CHECKPOINT_EXISTS; what `fill` throws
 */
export async function makeCheckpoint<T>(
  home: Home,
  name: string,
  fill: (folder: CheckpointFolder) => Promise<T>,
): Promise<T> {
  const path = home.entry("checkpoints", name);
  const unfinished = folderAt(name, `${path}${UNFINISHED}`);
  await makeUnfinished(unfinished.path);
  try {
    await writeJsonFile(join(unfinished.path, OWNER), await identify(process.pid));
    const result = await fill(unfinished);
    await rm(join(unfinished.path, OWNER));
    await rename(unfinished.path, path);
    return result;
  } catch (error) {
    await rm(unfinished.path, { recursive: true, force: true });
    throw /^(ENOTEMPTY|EEXIST)$/.test(codeOf(error) ?? "") ? exists(name, path) : error;
  }

  async function makeUnfinished(folder: string): Promise<void> {
    if (await isThere(path)) throw exists(name, path);
    await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
      throw codeOf(error) === "EEXIST" ? exists(name, folder) : error;
    });
  }
}

/** Names of all finished checkpoints, in order; deleted ones whose layers are kept are none. */
export async function listCheckpoints(home: Home): Promise<string[]> {
  const names = (await finishedNames(home)).filter((name) => !isDeleted(checkpointFolder(home, name)));
  return names.sort();
}

/** Names of deleted checkpoints whose layers are kept for what stands on them. */
export async function listDeleted(home: Home): Promise<string[]> {
  return (await finishedNames(home)).filter((name) => isDeleted(checkpointFolder(home, name)));
}

/** Whether a checkpoint was deleted. A restore asks once its record names the checkpoint's layers. */
export function isDeleted({ deleted }: CheckpointFolder): boolean {
  return existsSync(deleted);
}

async function finishedNames(home: Home): Promise<string[]> {
  return (await entries(home.checkpoints)).filter((name) => !name.endsWith(UNFINISHED));
}

/** Removes what killed processes left of checkpoints in the making; returns the paths. */
export async function collectUnfinished(home: Home): Promise<string[]> {
  const removed: string[] = [];
  for (const name of await entries(home.checkpoints)) {
    const path = join(home.checkpoints, name);
    if (!name.endsWith(UNFINISHED) || (await isOwned(path))) continue;
    await rm(path, { recursive: true, force: true });
    removed.push(path);
  }
  return removed;
}

async function isOwned(path: string): Promise<boolean> {
  try {
    return await isAlive(await readJsonFile(join(path, OWNER), identitySchema));
  } catch {
    return false;
  }
}

function folderAt(name: string, path: string): CheckpointFolder {
  return {
    name,
    path,
    images: join(path, "images"),
    upper: join(path, "upper"),
    layers: join(path, "layers"),
    digests: join(path, "digests.json"),
    pool: join(path, "pool.json"),
    log: join(path, "dump"),
    deleted: join(path, "deleted.json"),
  };
}

async function isThere(path: string): Promise<boolean> {
  try {
    await readdir(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function entries(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

function exists(name: string, path: string): DrumsError {
  return new DrumsError({
    code: "CHECKPOINT_EXISTS",
    exitCode: EXIT.usage,
    what: `there is a checkpoint ${JSON.stringify(name)} already`,
    where: path,
    ...(isDeleted(folderAt(name, path)) && {
      why: "it is deleted, and its layers are kept for siblings of it",
    }),
    hint: `choose another name; \`drums rm ${name}\` removes the old one, \`drums gc\` one that was never finished`,
  });
}
