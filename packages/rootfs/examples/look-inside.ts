import { readdir } from "node:fs/promises";
import { inspectImage, mountRoot } from "@drums/rootfs";

/** Lists the top folder of the root in a disk image, and leaves no trace of having looked. */
export async function lookInside(image: string, stateDir: string): Promise<string[]> {
  const { format, table, journal, root } = await inspectImage(image);
  const choice =
    "fault" in root ? root.fault.message : `partition ${root.partition.index}, because ${root.reason}`;
  const lines = [
    `${format}, ${table.kind}, ${table.partitions.length} partitions; ${choice}; journal: ${journal}`,
  ];

  const mounted = await mountRoot({ image, stateDir, holder: "example" });
  try {
    for (const { way, reason } of mounted.passedOver) lines.push(`not by ${way}: ${reason}`);
    lines.push(`mounted by ${mounted.way}: ${(await readdir(mounted.path)).sort().join(" ")}`);
  } finally {
    await mounted.release();
  }
  return lines;
}
