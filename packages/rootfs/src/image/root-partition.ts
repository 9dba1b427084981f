import { RootfsError } from "../errors.js";
import type { Partition, PartitionTable } from "./partitions.js";
import { MOUNTABLE } from "./superblocks.js";

/** Discoverable Partitions Specification: root, x86-64. */
const ROOT_X86_64 = "4f68bce3-e8cd-4db1-96e7-fbcaf984b709";
/** Linux filesystem data: what most installers give to a root. */
const LINUX_DATA = "0fc63daf-8483-4772-8e79-3d69d8477de4";
const MBR_LINUX = 0x83;

/** The chosen partition and the rule that chose it. */
export interface RootChoice {
  readonly partition: Partition;
  readonly reason: string;
  /** Where size alone decided: the other candidates, which may be the root as well, from large to small. */
  readonly rivals?: readonly Partition[];
}

/**
 * Finds the root partition: the one given; else by the type GUID of a root, by a label with "root" in
 * it, or the largest Linux filesystem. Only a mount can tell by the content then: mountRoot looks into the rivals.
 *
 * @throws RootfsError NO_ROOT_PARTITION, naming what each partition is
 */
export function findRootPartition(
  table: PartitionTable,
  { index }: { readonly index?: number } = {},
): RootChoice {
  if (index !== undefined) return givenPartition(table, index);
  const mountable = table.partitions.filter(isMountable);
  const byType = mountable.find(({ typeGuid }) => typeGuid === ROOT_X86_64);
  if (byType) return { partition: byType, reason: "its type GUID is that of an x86-64 root" };
  const linux = mountable.filter(isLinux);
  const candidates = linux.length > 0 ? linux : mountable;
  const byLabel = candidates.filter(hasRootLabel);
  const [only] = byLabel;
  if (only && byLabel.length === 1) return { partition: only, reason: "its label names a root" };
  const [largest, ...rivals] = [...candidates].sort((a, b) => b.bytes - a.bytes);
  if (!largest) throw noRoot(table);
  if (rivals.length === 0) return { partition: largest, reason: "it is the only Linux filesystem" };
  return { partition: largest, reason: "it is the largest Linux filesystem", rivals };
}

function givenPartition(table: PartitionTable, index: number): RootChoice {
  const partition = table.partitions.find((candidate) => candidate.index === index);
  if (partition && isMountable(partition)) return { partition, reason: "it was given" };
  throw noRoot(
    table,
    partition ? `partition ${index} has no filesystem to mount` : `there is no partition ${index}`,
  );
}

function isMountable({ filesystem }: Partition): boolean {
  return filesystem !== undefined && MOUNTABLE[filesystem.kind] !== undefined;
}

function isLinux({ typeGuid, typeByte }: Partition): boolean {
  return (
    typeGuid === LINUX_DATA || typeByte === MBR_LINUX || (typeGuid === undefined && typeByte === undefined)
  );
}

function hasRootLabel({ label, filesystem }: Partition): boolean {
  return /root/i.test(label ?? "") || /root/i.test(filesystem?.label ?? "");
}

function noRoot(table: PartitionTable, why = "no partition holds a Linux filesystem"): RootfsError {
  const found = table.partitions.map(
    ({ index, filesystem, bytes }) => `${index}: ${filesystem?.kind ?? "unknown"} (${bytes} bytes)`,
  );
  const locked = table.partitions.find(
    ({ filesystem }) => filesystem?.kind === "luks" || filesystem?.kind === "lvm",
  );
  return new RootfsError("NO_ROOT_PARTITION", `${why}; found ${found.join(", ") || "no partitions"}`, {
    hint: locked
      ? `Partition ${locked.index} is ${locked.filesystem?.kind === "luks" ? "LUKS" : "LVM"}, which is not opened here: copy its root into a plain partition.`
      : "Give the partition by its number, or an image with an ext4, xfs, btrfs, squashfs or erofs root.",
    facts: { partitions: table.partitions.length },
  });
}
