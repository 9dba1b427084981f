import { join } from "node:path";
import { RootfsError } from "../errors.js";
import type { Partition } from "../image/partitions.js";
import type { RootChoice } from "../image/root-partition.js";
import type { Journal } from "./journal.js";
import type { RootFolder } from "./layout.js";
import { mountPartition } from "./partition-mount.js";
import type { RootSystem } from "./system.js";
import { takeDownMount } from "./teardown.js";

/** What every root has and a /home or /boot of its own does not. */
const ROOT_FOLDERS = ["etc", "usr"];

/** What a look into a partition needs. */
export interface ContentLook {
  readonly system: RootSystem;
  readonly journal: Journal;
  readonly folder: RootFolder;
  readonly timeoutMs: number;
}

/**
 * Where size alone chose among several partitions, mounts one after the other, read-only and without a replay, and
 * takes the first that holds what a root holds. Where none does, the choice stays.
 */
export async function chooseByContent(
  look: ContentLook,
  disk: string,
  choice: RootChoice,
): Promise<RootChoice> {
  if (choice.rivals === undefined) return choice;
  for (const partition of [choice.partition, ...choice.rivals])
    if (await holdsRoot(look, disk, partition)) return { partition, reason: "it holds /etc and /usr" };
  return choice;
}

async function holdsRoot(
  { system, journal, folder, timeoutMs }: ContentLook,
  disk: string,
  partition: Partition,
): Promise<boolean> {
  try {
    await mountPartition(system, { disk, partition, target: folder.mount, journal });
    const found = await Promise.all(ROOT_FOLDERS.map((name) => system.exists(join(folder.mount, name))));
    return found.every(Boolean);
  } catch (error) {
    // A partition that cannot be mounted is no root; every other fault is met again by the mount itself.
    if (error instanceof RootfsError && error.code === "MOUNT_FAILED") return false;
    throw error;
  } finally {
    await takeDownMount(folder, { system, timeoutMs });
  }
}
