import { RootfsError } from "../errors.js";
import { readGpt } from "./gpt.js";
import { listMbrPartitions, PROTECTIVE_TYPE, parseMbr } from "./mbr.js";
import { type ReadAt, sliceReader } from "./reader.js";
import { type Filesystem, recogniseFilesystem } from "./superblocks.js";

/** A partition as the table gives it; start and length in bytes of the disk. */
export interface RawPartition {
  /** As Linux counts: from 1; logical partitions of an MBR from 5; 0 for a disk without a table. */
  readonly index: number;
  readonly start: number;
  readonly bytes: number;
  /** GPT: lower-case, with dashes. */
  readonly typeGuid?: string;
  /** MBR. */
  readonly typeByte?: number;
  /** GPT: the partition's own name. */
  readonly label?: string;
}

export interface Partition extends RawPartition {
  readonly filesystem?: Filesystem;
}

export interface PartitionTable {
  readonly kind: "gpt" | "mbr" | "none";
  readonly partitions: readonly Partition[];
  /** GPT: why the backup copy at the end of the disk was used. */
  readonly primaryFault?: string;
}

/**
 * Reads the partition table of a disk, with what each partition holds. GPT (512 and 4096 byte sectors,
 * checksums verified, backup copy as fallback), MBR with logical partitions, or a filesystem on the whole disk.
 *
 * @param read reads the disk, not the image file
 * @param size of the disk, in bytes
 * @throws RootfsError BAD_PARTITION_TABLE when a GPT is announced and neither copy is good
 */
export async function parsePartitions(read: ReadAt, size: number): Promise<PartitionTable> {
  const { kind, partitions, primaryFault } = await readTable(read, size);
  const described: Partition[] = [];
  for (const partition of partitions) {
    const filesystem = await recogniseFilesystem(sliceReader(read, partition.start, partition.bytes));
    described.push({ ...partition, ...(filesystem ? { filesystem } : {}) });
  }
  return { kind, partitions: described, ...(primaryFault === undefined ? {} : { primaryFault }) };
}

interface RawTable {
  readonly kind: PartitionTable["kind"];
  readonly partitions: readonly RawPartition[];
  readonly primaryFault?: string;
}

async function readTable(read: ReadAt, size: number): Promise<RawTable> {
  const mbr = parseMbr(await read(0, 512));
  const announced = mbr?.some(({ type }) => type === PROTECTIVE_TYPE) ?? false;
  const faults: string[] = [];
  for (const sectorBytes of [512, 4096]) {
    const result = await readGpt(read, size, sectorBytes);
    if (result && "gpt" in result) return { kind: "gpt", ...result.gpt };
    if (result) faults.push(result.fault);
  }
  if (announced) throw badGpt(faults);
  const partitions = mbr ? await listMbrPartitions(read, size, mbr) : [];
  if (partitions.length > 0) return { kind: "mbr", partitions };
  return { kind: "none", partitions: [{ index: 0, start: 0, bytes: size }] };
}

function badGpt(faults: readonly string[]): RootfsError {
  return new RootfsError(
    "BAD_PARTITION_TABLE",
    `the disk announces a GPT but has no good one (${faults.join("; ") || "no header found"})`,
    { hint: "The image is damaged or cut short: compare its sha256, or repair the table with sgdisk." },
  );
}
