import { rootFolder } from "./layout.js";
import type { RootRecord, Way } from "./record.js";
import type { PassedOver } from "./ways.js";

/** The partition that is mounted. Bytes of the disk. */
export interface MountedPartition {
  /** As Linux counts; 0 for a disk without a table. */
  readonly index: number;
  readonly start: number;
  readonly bytes: number;
  /** ext4, xfs … */
  readonly filesystem: string;
  readonly label: string;
  /** The rule that chose it. */
  readonly reason: string;
}

/** What is known of a mounted root. */
export interface RootFacts {
  /** Its name in the state folder; for releaseRoot. */
  readonly id: string;
  /** The mount point: a lower layer for overlays. */
  readonly path: string;
  /** The image, absolute and without links. */
  readonly image: string;
  readonly way: Way;
  readonly passedOver: readonly PassedOver[];
  /** Absent for a folder. */
  readonly partition?: MountedPartition;
  /** The mounted block device; for a folder the folder. */
  readonly device: string;
  readonly daemonPid?: number;
  /** Clock ticks since boot, from /proc/PID/stat. */
  readonly daemonStartTime?: string;
  /** The process behind the daemon that reads the image, where it is another one (`nbd-fuse`). */
  readonly serverPid?: number;
  readonly serverStartTime?: string;
  /** A dirty journal was replayed into an overlay; the image itself is as it was. */
  readonly journalReplayed: boolean;
  /** The file system's; "" where it has none. */
  readonly uuid: string;
  readonly holders: readonly string[];
}

/** A root that the caller holds until it calls `release`. */
export interface MountedRoot extends RootFacts {
  /** Gives up this holder's hold; the last one takes the root down. May be called again. */
  release(): Promise<void>;
}

/** The facts in a whole record. */
export function factsOf(stateDir: string, record: RootRecord): RootFacts {
  const { id, image, way = "folder", passedOver, device = "", journalReplayed, uuid, holders } = record;
  return {
    id,
    path: rootFolder(stateDir, id).mount,
    image,
    way,
    passedOver,
    ...(record.partition ? { partition: record.partition } : {}),
    device,
    ...(record.daemon ? { daemonPid: record.daemon.pid, daemonStartTime: record.daemon.startTime } : {}),
    ...(record.server ? { serverPid: record.server.pid, serverStartTime: record.server.startTime } : {}),
    journalReplayed,
    uuid,
    holders,
  };
}
