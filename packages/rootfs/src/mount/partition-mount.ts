import { open } from "node:fs/promises";
import { sys } from "@drums/nsexec";
import { RootfsError, reasonOf, systemCode } from "../errors.js";
import { type Partition, parsePartitions } from "../image/partitions.js";
import { fileReader } from "../image/reader.js";
import { findRootPartition, type RootChoice } from "../image/root-partition.js";
import { MOUNTABLE } from "../image/superblocks.js";
import { type Journal, noJournal } from "./journal.js";
import { attachLoop } from "./loop.js";
import type { RootSystem } from "./system.js";

/** The image's set-user-id files and device nodes mean nothing on the host; sessions see them through overlays. */
export const HOST_FLAGS = sys.MS.RDONLY | sys.MS.NODEV | sys.MS.NOSUID | sys.MS.NOATIME;

/** Options that keep each driver from touching its log on a read-only mount. */
const WITHOUT_REPLAY: Readonly<Record<string, string>> = {
  ext4: "noload",
  xfs: "norecovery,nouuid",
  btrfs: "rescue=nologreplay",
};

/** Reads the partition table of an exposed disk and picks the root. */
export async function chooseRoot(
  disk: string,
  { bytes, index }: { readonly bytes: number; readonly index?: number },
): Promise<RootChoice> {
  const file = await open(disk, "r");
  try {
    const table = await parsePartitions(fileReader(file), bytes);
    return findRootPartition(table, index === undefined ? {} : { index });
  } finally {
    await file.close();
  }
}

export interface PartitionMount {
  /** Image file, FUSE file or block device. */
  readonly disk: string;
  readonly partition: Partition;
  readonly target: string;
  readonly journal?: Journal;
}

/**
 * Cuts a partition out of a disk with a loop device and mounts it read-only: no byte of the disk changes,
 * not even by a journal. The loop device goes with its last user.
 *
 * @returns the loop device
 * @throws RootfsError NO_FREE_LOOP, LOOP_FAILED, MOUNT_FAILED
 */
export async function mountPartition(system: RootSystem, request: PartitionMount): Promise<string> {
  const { disk, partition, target, journal = noJournal } = request;
  await journal.acquire({ kind: "loop", id: disk, offset: partition.start });
  const range = { file: disk, offset: partition.start, bytes: partition.bytes };
  const loop = await attachLoop(system, { ...range, readOnly: true });
  try {
    const fsType = MOUNTABLE[partition.filesystem?.kind ?? "swap"] ?? "";
    const data = WITHOUT_REPLAY[fsType] ?? "";
    await journal.acquire({ kind: "mount", id: target, device: loop.device });
    await system.mount(target, { source: loop.device, fsType, flags: HOST_FLAGS, data });
    return loop.device;
  } catch (error) {
    throw mountFailed(request, loop.device, error);
  } finally {
    loop.close();
  }
}

function mountFailed({ partition, target }: PartitionMount, device: string, cause: unknown): unknown {
  if (systemCode(cause) === undefined) return cause;
  const kind = partition.filesystem?.kind ?? "unknown";
  return new RootfsError(
    "MOUNT_FAILED",
    `cannot mount partition ${partition.index} (${kind}): ${reasonOf(cause)}`,
    {
      path: target,
      hint:
        systemCode(cause) === "ENODEV"
          ? `This kernel has no ${kind} driver: load it with \`modprobe ${kind}\`.`
          : "The kernel's log (`dmesg`) has its reason; a damaged file system wants `fsck` on a copy.",
      facts: { device, filesystem: kind, code: systemCode(cause) },
      cause,
    },
  );
}
