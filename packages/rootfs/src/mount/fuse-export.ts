import { readMountinfo } from "@drums/nsexec/proc";
import type { BlockNode } from "../image/source.js";
import { type DaemonIdentity, startDaemon } from "./daemon.js";
import type { RootFolder } from "./layout.js";
import type { RootSystem } from "./system.js";

/** Why the storage daemon's FUSE export cannot be used here, or undefined. */
export async function probeFuseExport(system: RootSystem): Promise<string | undefined> {
  if (!(await system.exists("/dev/fuse"))) return "/dev/fuse is missing";
  if (!(await system.exists("/dev/loop-control"))) return "/dev/loop-control is missing";
  if (!(await system.onPath("qemu-storage-daemon")))
    return "qemu-storage-daemon is not on PATH (Debian: qemu-system-common)";
  return undefined;
}

/** Serves the disk of a block graph as the file `folder.disk`. */
export async function exportByFuse(
  system: RootSystem,
  folder: RootFolder,
  { node, writable }: { readonly node: BlockNode; readonly writable: boolean },
): Promise<DaemonIdentity> {
  await system.makeFile(folder.disk);
  return await startDaemon(system, folder, {
    file: "qemu-storage-daemon",
    argv: storageDaemonArguments(folder, node, writable),
  });
}

/**
 * Lets the kernel send the export one request at a time, for a reader and writer of one thread: without
 * read-ahead nothing is on its way while the thread waits for a write.
 */
export async function serialiseWrites(system: RootSystem, disk: string): Promise<void> {
  const mount = (await readMountinfo("self")).find(({ mountPoint }) => mountPoint === disk);
  if (!mount) throw new Error(`no export is mounted at ${disk}`);
  await system.writeSysfs(`/sys/class/bdi/${mount.major}:${mount.minor}/read_ahead_kb`, "0");
}

/**
 * The storage daemon's arguments. JSON, because in its comma-separated form a comma in a path would
 * begin another option.
 */
export function storageDaemonArguments(folder: RootFolder, node: BlockNode, writable: boolean): string[] {
  const block = { ...node, "node-name": "disk", "read-only": !writable };
  const target = { type: "fuse", id: "disk-export", "node-name": "disk", mountpoint: folder.disk, writable };
  return [
    "--blockdev",
    JSON.stringify(block),
    "--export",
    JSON.stringify(target),
    "--daemonize",
    "--pidfile",
    folder.pidFile,
  ];
}
