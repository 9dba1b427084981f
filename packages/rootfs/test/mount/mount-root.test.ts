import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { listRoots, mountRoot } from "../../src/index.js";
import { makeRootDisk, toQcow2 } from "../helpers/disk.js";
import { leftOf, rootTree, sha256Of, stateFolder } from "../helpers/mounts.js";

const NEEDS = [
  "root",
  "fuse",
  "loop",
  "program:qemu-storage-daemon",
  "program:qemu-img",
  "program:mke2fs",
] as const;

testNeeding(
  NEEDS,
  "a zstd qcow2 is mounted read-only through the storage daemon, and the other ways say why not",
  async () => {
    const stateDir = await stateFolder();
    const image = await toQcow2(await makeRootDisk(stateDir, await rootTree(stateDir)), [
      "-c",
      "-o",
      "compression_type=zstd",
    ]);
    const before = await sha256Of(image);
    const root = await mountRoot({ image, stateDir, holder: "one", way: "fuse-export" });
    expect(await readFile(join(root.path, "etc/hostname"), "utf8")).toBe("inside\n");
    await expect(writeFile(join(root.path, "etc/x"), "")).rejects.toMatchObject({ code: "EROFS" });
    expect(root).toMatchObject({
      way: "fuse-export",
      journalReplayed: false,
      partition: { index: 2, filesystem: "ext4" },
    });
    expect(root.uuid).toMatch(/^[0-9a-f-]{36}$/);
    expect(await listRoots({ stateDir })).toMatchObject([{ id: root.id, holders: ["one"] }]);
    await root.release();
    await root.release();
    expect(await leftOf(stateDir)).toEqual([]);
    expect(await sha256Of(image)).toBe(before);
  },
);
