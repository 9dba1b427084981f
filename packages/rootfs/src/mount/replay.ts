import { RootfsError, reasonOf } from "../errors.js";
import type { Partition } from "../image/partitions.js";
import type { BlockNode, ImageSource } from "../image/source.js";
import { serialiseWrites } from "./fuse-export.js";
import type { RootFolder } from "./layout.js";
import type { Way } from "./record.js";
import type { RootSystem } from "./system.js";
import { takeDownDisk } from "./teardown.js";
import { exposeDisk } from "./ways.js";

export interface ReplayRequest {
  readonly way: Way;
  readonly source: ImageSource;
  readonly partition: Partition;
  readonly timeoutMs: number;
}

/**
 * Replays a dirty ext journal into a qcow2 overlay of our own: the partition is exposed writable with the
 * overlay on top, and e2fsck replays its journal and does nothing else. The image is only ever opened for
 * reading.
 *
 * Not by a writable mount: it writes from several threads at once, and the FUSE export of QEMU before
 * 10.1 overwrites the buffer of a write that waits when the next request comes in. The replayed disk then
 * has garbage in its group descriptors. e2fsck is one thread and waits for every write.
 *
 * @returns the graph of image and overlay, to be served read-only
 * @throws RootfsError REPLAY_FAILED
 */
export async function replayJournal(
  system: RootSystem,
  folder: RootFolder,
  { way, source, partition, timeoutMs }: ReplayRequest,
): Promise<BlockNode> {
  try {
    await createOverlay(system, folder.replay, source.virtualBytes);
    const node = sliceNode(overlayNode(folder, source, true), partition);
    const { disk } = await exposeDisk(way, system, folder, { image: source.path, node, writable: true });
    if (way === "fuse-export") await serialiseWrites(system, disk);
    await system.run("e2fsck", ["-y", "-E", "journal_only", disk], { succeeds: [0, 1] });
    await takeDownDisk(folder, { system, timeoutMs });
  } catch (cause) {
    throw replayFailed(source.path, reasonOf(cause), cause);
  }
  return overlayNode(folder, source, false);
}

/** The error for a journal that could not be replayed, or still asks for it afterwards. */
export function replayFailed(image: string, why: string, cause?: unknown): RootfsError {
  return new RootfsError("REPLAY_FAILED", `the journal of ${image} could not be replayed: ${why}`, {
    path: image,
    hint: "The file system needs repair: run `e2fsck` on a copy of the image, or boot and shut down its machine.",
    cause,
  });
}

/** Names no backing file in its header: which file lies below is said to QEMU by us alone. */
async function createOverlay(system: RootSystem, file: string, bytes: number): Promise<void> {
  await system.run("qemu-img", ["create", "-q", "-f", "qcow2", file, String(bytes)]);
}

function overlayNode(folder: RootFolder, source: ImageSource, writable: boolean): BlockNode {
  return {
    driver: "qcow2",
    file: { driver: "file", filename: folder.replay, "read-only": !writable },
    backing: { ...source.node, "read-only": true },
  };
}

function sliceNode(file: BlockNode, { start, bytes }: Partition): BlockNode {
  return { driver: "raw", offset: start, size: bytes, file };
}
