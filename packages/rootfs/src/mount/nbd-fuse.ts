import type { BlockNode } from "../image/source.js";
import { type DaemonIdentity, startDaemon } from "./daemon.js";
import type { RootFolder } from "./layout.js";
import { serverArguments } from "./nbd.js";
import type { RootSystem } from "./system.js";

/** nbdfuse opens as many where the server allows it; more are refused by qemu-nbd. */
const CONNECTIONS = 4;
/** sizeof(sun_path) of unix(7), less its end. */
const MAX_SOCKET_BYTES = 107;

/** Why qemu-nbd with nbdfuse cannot be used here, or undefined. */
export async function probeNbdFuse(system: RootSystem, folder: RootFolder): Promise<string | undefined> {
  if (!(await system.exists("/dev/fuse"))) return "/dev/fuse is missing";
  if (!(await system.exists("/dev/loop-control"))) return "/dev/loop-control is missing";
  if (!(await system.onPath("qemu-nbd"))) return "qemu-nbd is not on PATH (Debian: qemu-utils)";
  if (!(await system.onPath("nbdfuse"))) return "nbdfuse is not on PATH (Debian: libnbd-bin)";
  if (Buffer.byteLength(folder.socket) > MAX_SOCKET_BYTES)
    return `the state folder's path is too long for a socket in it (over ${MAX_SOCKET_BYTES} bytes)`;
  return undefined;
}

/** Serves the disk of a block graph on a socket, and that as the file `folder.disk`. */
export async function exportByNbdFuse(
  system: RootSystem,
  folder: RootFolder,
  { node, writable }: { readonly node: BlockNode; readonly writable: boolean },
): Promise<{ daemon: DaemonIdentity; server: DaemonIdentity }> {
  const server = await startDaemon(system, folder, {
    file: "qemu-nbd",
    argv: nbdServerArguments(folder, node, writable),
    pidFile: folder.serverPidFile,
  });
  await system.makeFile(folder.disk);
  const daemon = await startDaemon(system, folder, {
    file: "nbdfuse",
    argv: nbdFuseArguments(folder, writable),
    foreground: true,
  });
  return { daemon, server };
}

/** qemu-nbd's arguments. Without `--persistent` it ends with its last client. */
export function nbdServerArguments(folder: RootFolder, node: BlockNode, writable: boolean): string[] {
  const shared = [`--socket=${folder.socket}`, `--shared=${CONNECTIONS}`];
  return [...shared, ...serverArguments(folder.serverPidFile, node, writable)];
}

/** nbdfuse's arguments: a regular file as mount point becomes the disk itself. */
export function nbdFuseArguments(folder: RootFolder, writable: boolean): string[] {
  const access = writable ? [] : ["--readonly"];
  const options = [...access, `--connections=${CONNECTIONS}`, "--pidfile", folder.pidFile];
  return [...options, folder.disk, "--unix", folder.socket];
}
