import { realpath, stat } from "node:fs/promises";
import { RootfsError } from "../errors.js";
import { identityKey } from "../image/digest.js";
import { describeImage, type ImageFormat, type SourceOptions } from "../image/source.js";
import { acquireRoot, type RootContext } from "./acquire.js";
import { checkRoot } from "./check.js";
import { type Journal, noJournal, trackJournal } from "./journal.js";
import { rootFolder, rootId } from "./layout.js";
import { withRootsLock } from "./lock.js";
import { factsOf, type MountedRoot } from "./mounted-root.js";
import { type RootRecord, readRecord, type Way } from "./record.js";
import { DEFAULT_TIMEOUT_MS, releaseRoot, type StateOptions, writeRecord } from "./references.js";
import { realSystem } from "./system.js";
import { teardownRoot } from "./teardown.js";
import type { RootSource } from "./ways.js";

export interface MountRootOptions extends StateOptions {
  /** An image file, or a folder that is a root already. */
  readonly image: string;
  /** Who holds the root: a session's id. A holder holds a root once, however often it asks. */
  readonly holder: string;
  /** Take this way or fail. Default: the first that works. */
  readonly way?: Way;
  /** The root partition's number. Default: findRootPartition's choice. */
  readonly partition?: number;
  /** Backing and data files that the image may name. Default: none. */
  readonly allow?: readonly string[];
  /** Default: by the magic. */
  readonly format?: ImageFormat;
  /** Told of everything before it is acquired. Default: nobody; the state folder's records suffice. */
  readonly journal?: Journal;
}

/**
 * Mounts the root of an image read-only, or joins the mount that others already hold. The image is never
 * written: a dirty journal is replayed into an overlay. What this process acquires is found and taken down
 * by collectRoots should it die at any point.
 *
 * @throws RootfsError for a refused image (see describeImage), NO_ROOT_PARTITION, NO_WAY, NO_FREE_LOOP,
 *   MOUNT_FAILED, REPLAY_FAILED, ROOT_BUSY
 */
export async function mountRoot(options: MountRootOptions): Promise<MountedRoot> {
  const { stateDir, timeoutMs = DEFAULT_TIMEOUT_MS, system = realSystem, holder } = options;
  const journal = trackJournal(options.journal ?? noJournal);
  const { source, identity } = await openSource(options);
  const folder = rootFolder(stateDir, rootId([identity, options.partition, options.way, options.format]));
  const context = { system, journal, folder, timeoutMs, way: options.way, partition: options.partition };
  await journal.acquire({ kind: "mount", id: "root", rootId: folder.id, holder, path: folder.mount });
  try {
    const record = await withRootsLock(stateDir, { timeoutMs }, () =>
      holdRoot(context, source, { identity, stateDir, holder }),
    );
    return {
      ...factsOf(stateDir, record),
      release: async () => {
        await releaseRoot({ stateDir, rootId: folder.id, holder, timeoutMs, system });
        await journal.releaseAll();
      },
    };
  } catch (error) {
    await journal.releaseAll();
    throw error;
  }
}

async function openSource(options: MountRootOptions): Promise<{ source: RootSource; identity: string }> {
  const stats = await stat(options.image, { bigint: true }).catch(() => undefined);
  if (stats?.isDirectory()) {
    const path = await realpath(options.image);
    // A folder's times change with its content; it is the same root all the same.
    return { source: { kind: "folder", path }, identity: `folder:${stats.dev}:${stats.ino}` };
  }
  const image = await describeImage(options.image, sourceOptions(options));
  return { source: { kind: "image", ...image }, identity: identityKey(image.identity) };
}

function sourceOptions({ allow, format }: MountRootOptions): SourceOptions {
  return { ...(allow ? { allow } : {}), ...(format ? { format } : {}) };
}

async function holdRoot(
  context: RootContext,
  source: RootSource,
  asked: { readonly identity: string; readonly stateDir: string; readonly holder: string },
): Promise<RootRecord> {
  const { folder, system, timeoutMs } = context;
  const found = await readRecord(folder);
  const whole = typeof found === "object" && found.stage === "mounted" ? found : undefined;
  const holders = [...new Set([...(whole?.holders ?? []), asked.holder])];
  if (whole && (await isUsable(asked.stateDir, whole))) {
    const joined = { ...whole, holders };
    await writeRecord(system, folder, joined);
    return joined;
  }
  // Half-made, or its daemon is gone. The holders of a lost root keep their hold, to be given up by them.
  if (await system.exists(folder.path))
    await teardownRoot(folder, { system, timeoutMs, leaveLoops: whole !== undefined });
  return await acquireRoot(context, source, { identity: asked.identity, holders });
}

async function isUsable(stateDir: string, record: RootRecord): Promise<boolean> {
  try {
    await checkRoot(factsOf(stateDir, record));
    return true;
  } catch (error) {
    if (error instanceof RootfsError) return false;
    throw error;
  }
}
