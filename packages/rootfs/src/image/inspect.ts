import { RootfsError } from "../errors.js";
import { openDisk } from "./disk-reader.js";
import { type PartitionTable, parsePartitions } from "./partitions.js";
import type { Qcow2Header } from "./qcow2.js";
import type { Qcow2Extents } from "./qcow2-extents.js";
import { findRootPartition, type RootChoice } from "./root-partition.js";
import { describeImage, type ImageFormat, type SourceOptions } from "./source.js";

export interface InspectOptions extends SourceOptions {
  /** Take this partition as the root. Default: findRootPartition's choice. */
  readonly partition?: number;
}

/** All that can be said of an image without mounting it. */
export interface ImageInspection {
  readonly path: string;
  readonly format: ImageFormat;
  readonly fileBytes: number;
  /** Size of the disk inside. */
  readonly virtualBytes: number;
  readonly header?: Qcow2Header;
  readonly extents?: Qcow2Extents;
  readonly table: PartitionTable;
  /** The root partition, or why there is none. */
  readonly root: RootChoice | { readonly fault: RootfsError };
  /** Whether the root's journal must be replayed before its content is right. */
  readonly journal: "clean" | "needs recovery" | "unknown";
}

/**
 * Reads an image's header, tables, partitions and the root's journal state. Nothing is mounted or written.
 *
 * @throws RootfsError for an image that would be refused by mountRoot, except for a missing root
 *   partition, which is reported in `root`
 */
export async function inspectImage(path: string, options: InspectOptions = {}): Promise<ImageInspection> {
  const source = await describeImage(path, options);
  const disk = await openDisk(source);
  try {
    const table = await parsePartitions(disk.read, source.virtualBytes);
    const root = tryFindRoot(table, options.partition);
    return {
      path: source.path,
      format: source.format,
      fileBytes: source.fileBytes,
      virtualBytes: source.virtualBytes,
      ...(source.header ? { header: source.header } : {}),
      ...(source.extents ? { extents: source.extents } : {}),
      table,
      root,
      journal: journalState(root),
    };
  } finally {
    await disk.close();
  }
}

function tryFindRoot(table: PartitionTable, index: number | undefined): ImageInspection["root"] {
  try {
    return findRootPartition(table, index === undefined ? {} : { index });
  } catch (error) {
    if (error instanceof RootfsError) return { fault: error };
    throw error;
  }
}

function journalState(root: ImageInspection["root"]): ImageInspection["journal"] {
  if ("fault" in root || !root.partition.filesystem) return "unknown";
  const { kind, needsRecovery } = root.partition.filesystem;
  if (needsRecovery) return "needs recovery";
  // A log of xfs or btrfs that needs replay is not read here.
  return kind === "xfs" || kind === "btrfs" ? "unknown" : "clean";
}
