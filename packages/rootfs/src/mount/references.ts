import { readdir } from "node:fs/promises";
import { RootfsError } from "../errors.js";
import { type RootFolder, rootFolder, rootsFolder } from "./layout.js";
import { withRootsLock } from "./lock.js";
import { factsOf, type RootFacts } from "./mounted-root.js";
import { type RootRecord, readRecord } from "./record.js";
import { type RootSystem, realSystem } from "./system.js";
import { teardownRoot } from "./teardown.js";

export const DEFAULT_TIMEOUT_MS = 10_000;

/** What functions on a state folder share. */
export interface StateOptions {
  /** The folder whose `roots/` holds the records and mount points. */
  readonly stateDir: string;
  /** Bound on each wait: for the lock, a loop device, a daemon. Default 10 000. */
  readonly timeoutMs?: number;
  /** Default: the machine. Tests put a fake here. */
  readonly system?: RootSystem;
}

export interface ReleaseOptions extends StateOptions {
  readonly rootId: string;
  readonly holder: string;
}

/**
 * Gives up a holder's hold on a root. The last holder takes it down: unmount, loop, daemon, files. A root
 * that is gone already, or that the holder does not hold, is no error.
 *
 * @returns whether the root was taken down
 * @throws RootfsError TEARDOWN_FAILED, ROOT_BUSY, BAD_STATE (the record cannot be read; collectRoots clears it)
 */
export async function releaseRoot(options: ReleaseOptions): Promise<{ readonly removed: boolean }> {
  const { stateDir, rootId, holder, timeoutMs = DEFAULT_TIMEOUT_MS, system = realSystem } = options;
  const folder = rootFolder(stateDir, rootId);
  return await withRootsLock(stateDir, { timeoutMs }, async () => {
    const record = await readRecord(folder);
    if (record === undefined) return { removed: false };
    if (record === "unreadable") throw badRecord(folder);
    const holders = record.holders.filter((name) => name !== holder);
    await writeRecord(system, folder, {
      ...record,
      holders,
      ...(holders.length ? {} : { stage: "releasing" }),
    });
    if (holders.length > 0) return { removed: false };
    await teardownRoot(folder, { system, timeoutMs });
    return { removed: true };
  });
}

/** All whole roots of a state folder, with their holders. */
export async function listRoots({ stateDir }: { readonly stateDir: string }): Promise<RootFacts[]> {
  const roots: RootFacts[] = [];
  for (const folder of await listFolders(stateDir)) {
    const record = await readRecord(folder);
    if (typeof record === "object" && record.stage === "mounted") roots.push(factsOf(stateDir, record));
  }
  return roots;
}

/** The folders of all roots, whole or not. */
export async function listFolders(stateDir: string): Promise<RootFolder[]> {
  const entries = await readdir(rootsFolder(stateDir), { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => rootFolder(stateDir, name));
}

export async function writeRecord(system: RootSystem, folder: RootFolder, record: RootRecord): Promise<void> {
  await system.writeRecord(folder.record, `${JSON.stringify(record, null, 2)}\n`);
}

function badRecord(folder: RootFolder): RootfsError {
  return new RootfsError("BAD_STATE", `the record ${folder.record} cannot be read`, {
    path: folder.record,
    hint: "Run `drums gc` (collectRoots): it clears a root by what the kernel knows of it.",
  });
}
