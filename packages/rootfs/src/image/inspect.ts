import { RootfsError } from "../errors.js";
import { openDisk } from "./disk-reader.js";
import { type PartitionTable, parsePartitions } from "./partitions.js";
import { findRootPartition, type RootChoice } from "./root-partition.js";
import { describeImage, type ImageSource, type SourceOptions } from "./source.js";

export interface InspectOptions extends SourceOptions {
  /** Take this partition as the root. Default: findRootPartition's choice. */
  readonly partition?: number;
}

/** All that can be said of an image without mounting it. */
export interface ImageInspection extends Omit<ImageSource, "identity" | "node"> {
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
    const { identity: _identity, node: _node, ...seen } = source;
    return { ...seen, table, root, journal: journalState(root) };
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
