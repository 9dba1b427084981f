import { RootfsError, reasonOf } from "../errors.js";
import type { Partition } from "../image/partitions.js";
import type { BlockNode, ImageSource } from "../image/source.js";
import type { RootFolder } from "./layout.js";
import { mountPartition } from "./partition-mount.js";
import type { Way } from "./record.js";
import type { RootSystem } from "./system.js";
import { takeDownDisk, takeDownMount } from "./teardown.js";
import { exposeDisk } from "./ways.js";

export interface ReplayRequest {
  readonly way: Way;
  readonly source: ImageSource;
  readonly partition: Partition;
  readonly timeoutMs: number;
}

/**
 * Replays a dirty journal into a qcow2 overlay of our own: the disk is exposed writable with the overlay
 * on top, the root mounted once, and all taken down again. The image is only ever opened for reading.
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
    const node = overlayNode(folder, source, true);
    const { disk } = await exposeDisk(way, system, folder, { image: source.path, node, writable: true });
    await mountPartition(system, { disk, partition, target: folder.mount, readOnly: false });
    await takeDownMount(folder, { system, timeoutMs });
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
