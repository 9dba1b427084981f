import { createHash } from "node:crypto";
import { join } from "node:path";

/**
 * The folder of one mounted root, `STATE/roots/ID`. Every outside thing is named after a path in it, so
 * that what a killed process left is found in the kernel's own tables, whether or not it was recorded.
 */
export interface RootFolder {
  readonly id: string;
  readonly path: string;
  /** The mount point that sessions use as a lower layer. */
  readonly mount: string;
  /** The FUSE export of the disk. */
  readonly disk: string;
  /** The qcow2 that a journal is replayed into. */
  readonly replay: string;
  readonly pidFile: string;
  /** Where qemu-nbd serves nbdfuse, with the pid file of that server. */
  readonly socket: string;
  readonly serverPidFile: string;
  /** What a daemon without a log of its own writes. */
  readonly log: string;
  readonly record: string;
}

/** The folder that holds all roots of a state folder. */
export function rootsFolder(stateDir: string): string {
  return join(stateDir, "roots");
}

export function rootFolder(stateDir: string, id: string): RootFolder {
  const path = join(rootsFolder(stateDir), id);
  return {
    id,
    path,
    mount: join(path, "mount"),
    disk: join(path, "disk"),
    replay: join(path, "replay.qcow2"),
    pidFile: join(path, "daemon.pid"),
    socket: join(path, "nbd.sock"),
    serverPidFile: join(path, "server.pid"),
    log: join(path, "daemon.log"),
    record: join(path, "root.json"),
  };
}

/** The id of a root: the same for the same unchanged image mounted in the same way. */
export function rootId(parts: readonly (string | number | undefined)[]): string {
  return createHash("sha256")
    .update(JSON.stringify(parts.map((part) => part ?? null)))
    .digest("hex")
    .slice(0, 16);
}
