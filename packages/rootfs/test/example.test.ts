import { expect } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { lookInside } from "../examples/look-inside.js";
import { makeRootDisk, toQcow2 } from "./helpers/disk.js";
import { leftOf, rootTree } from "./helpers/mounts.js";
import { stateFolder } from "./helpers/temp.js";

testNeeding(
  ["root", "fuse", "loop", "program:qemu-storage-daemon", "program:qemu-io", "program:mke2fs"],
  "the README's example looks into an image and leaves no trace",
  async () => {
    const stateDir = await stateFolder();
    const image = await toQcow2(await makeRootDisk(stateDir, await rootTree(stateDir)));
    const lines = await lookInside(image, stateDir);
    expect(lines[0]).toBe(
      "qcow2, gpt, 2 partitions; partition 2, because its label names a root; journal: clean",
    );
    expect(lines.at(-1)).toMatch(/^mounted by (nbd|fuse-export): etc lost\+found usr$/);
    expect(await leftOf(stateDir)).toEqual([]);
  },
);
