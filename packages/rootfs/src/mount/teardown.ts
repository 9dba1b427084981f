import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { sys } from "@drums/nsexec";
import { type MountInfo, readMountinfo } from "@drums/nsexec/proc";
import { systemCode } from "../errors.js";
import { findDaemons } from "./daemon.js";
import type { RootFolder } from "./layout.js";
import { type AttachedLoop, listLoops, waitForLoop } from "./loop.js";
import type { RootSystem } from "./system.js";

export interface TeardownOptions {
  readonly system: RootSystem;
  /** How long to wait for a loop device to go, and for a daemon to heed SIGTERM. */
  readonly timeoutMs: number;
  /** Do not wait for loop devices: their daemon is dead, and doomed sessions may hold them for long. */
  readonly leaveLoops?: boolean;
}

/**
 * Takes down whatever there is of a root, in the one order that works: unmount, loop, wait until the loop
 * is gone, daemon, the export's mount if the daemon left it behind, files. It looks in the kernel's own
 * tables and not in the record, so it serves a root in any state, and may be called again.
 *
 * @throws RootfsError TEARDOWN_FAILED; what is left then is found by the next call
 */
export async function teardownRoot(folder: RootFolder, options: TeardownOptions): Promise<void> {
  await takeDownMount(folder, options);
  await takeDownDisk(folder, options);
  await removeFiles(folder, options.system);
}

/** Unmounts the root and waits for its loop device to go. */
export async function takeDownMount(
  folder: RootFolder,
  { system, timeoutMs, leaveLoops = false }: TeardownOptions,
): Promise<void> {
  const mounts = await mountsAt(folder.mount);
  const loops = await loopsOf(folder, mounts);
  for (const _ of mounts) await unmount(system, folder.mount);
  for (const loop of loops) await detach(system, loop);
  if (leaveLoops) return;
  for (const loop of loops) await waitForLoop(loop, { timeoutMs });
}

/** Ends the daemon, and clears the export that a killed daemon leaves behind (ENOTCONN). */
export async function takeDownDisk(
  folder: RootFolder,
  { system, timeoutMs }: TeardownOptions,
): Promise<void> {
  await endDaemons(folder, { system, timeoutMs });
  for (const _ of await mountsAt(folder.disk)) await unmount(system, folder.disk);
}

/** Looks again until there is none: one that is just going into the background forks between a look and its end. */
async function endDaemons(folder: RootFolder, { system, timeoutMs }: TeardownOptions): Promise<void> {
  for (let pids = await findDaemons(folder); pids.length > 0; pids = await findDaemons(folder))
    for (const pid of pids) await system.endProcess(pid, timeoutMs);
}

/** Names every file for itself and never removes recursively: a mount left standing must not lose its content. */
async function removeFiles(folder: RootFolder, system: RootSystem): Promise<void> {
  const names = await readdir(folder.path).catch(() => []);
  const [mount, record] = [basename(folder.mount), basename(folder.record)];
  for (const name of names)
    if (name !== mount && name !== record) await system.removeFile(join(folder.path, name));
  await removeFolder(system, folder.mount);
  // The record last: as long as it is there, the folder is known to be a root's.
  await system.removeFile(folder.record);
  await removeFolder(system, folder.path);
}

async function mountsAt(path: string): Promise<MountInfo[]> {
  return (await readMountinfo("self")).filter(({ mountPoint }) => mountPoint === path);
}

async function loopsOf(folder: RootFolder, mounts: readonly MountInfo[]): Promise<AttachedLoop[]> {
  const mounted = new Set(mounts.map(({ source }) => source));
  return (await listLoops()).filter(
    ({ device, backingFile }) => backingFile === folder.disk || mounted.has(device),
  );
}

async function unmount(system: RootSystem, path: string): Promise<void> {
  try {
    await system.unmount(path, sys.MNT.UMOUNT_NOFOLLOW);
  } catch (error) {
    if (systemCode(error) === "EINVAL") return; // not mounted any more
    if (systemCode(error) !== "EBUSY") throw error;
    // A program of the host stands in it. It keeps its view; the wait for the loop tells whether it matters.
    await system.unmount(path, sys.MNT.DETACH | sys.MNT.UMOUNT_NOFOLLOW);
  }
}

async function detach(system: RootSystem, { device, backingFile }: AttachedLoop): Promise<void> {
  // The unmount has mostly done it (autoclear), and the number may be somebody else's by now.
  const still = (await listLoops()).some(
    (loop) => loop.device === device && loop.backingFile === backingFile,
  );
  if (!still) return;
  try {
    await system.detachLoop(device);
  } catch (error) {
    if (systemCode(error) !== "ENXIO") throw error;
  }
}

async function removeFolder(system: RootSystem, path: string): Promise<void> {
  try {
    await system.removeFolder(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}
