import { copyFile, mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { realSystem } from "../../src/index.js";
import { MIB, makeRootDisk } from "./disk.js";

/** Files that only a replay of the journal brings to light. */
export const LATE_FILES = Array.from({ length: 50 }, (_, index) => `late-${index}`);

/**
 * A raw disk whose root was written to and never unmounted: the files are in its journal, committed, and
 * not yet in their place. Made by copying the disk under a live mount, as a power cut would leave it.
 */
export async function makeDirtyDisk(folder: string, tree: string): Promise<string> {
  const live = await makeRootDisk(folder, tree, "live.raw");
  const dirty = join(folder, "dirty.raw");
  const mountPoint = join(folder, "live");
  await mkdir(mountPoint);
  const loop = await realSystem.attachLoop({ file: live, offset: 5 * MIB, bytes: 26 * MIB, readOnly: false });
  sys.mount(mountPoint, { source: loop.device, fsType: "ext4", flags: sys.MS.NODEV });
  loop.close();
  try {
    for (const name of LATE_FILES) await writeFile(join(mountPoint, name), name);
    const last = await open(join(mountPoint, LATE_FILES.at(-1) ?? ""), "r");
    await last.sync();
    await last.close();
    await copyFile(live, dirty);
  } finally {
    sys.umount2(mountPoint, 0);
  }
  return dirty;
}
