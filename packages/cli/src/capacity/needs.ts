import { type Demands, readDemands } from "@drums/criu";
import type { LoadedCheckpoint } from "../checkpoint/load.js";
import { USER } from "../session/paths.js";

/** What each sibling of a checkpoint takes. */
export interface SiblingNeeds extends Omit<Demands, "memoryBytes" | "copiedUpBytes"> {
  /** With what the kernel keeps for it beside its pages. */
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** The host's uid whose inotify limits it counts against. */
  readonly inotifyUid: number;
}

/** Page tables, stacks and files of the kernel: 300 MiB were seen for 286 MiB of pages. */
const KERNEL_SHARE = 0.05;
/** A session folder with records, CRIU's log and an upper's first files. */
const FOLDER_BYTES = 512 * 1024;

/** Reads what a sibling takes from the checkpoint's own images. @throws CriuError IMAGE_INVALID */
export async function siblingNeeds({
  images,
  spec,
}: Pick<LoadedCheckpoint, "images" | "spec">): Promise<SiblingNeeds> {
  const { memoryBytes, copiedUpBytes, ...counts } = await readDemands(images);
  return {
    ...counts,
    memoryBytes: Math.ceil(memoryBytes * (1 + KERNEL_SHARE)),
    diskBytes: copiedUpBytes + FOLDER_BYTES,
    // A user namespace's watches count against whoever made it, too (inc_ucount in kernel/ucount.c).
    inotifyUid: spec.idBase === undefined ? USER.uid : 0,
  };
}
