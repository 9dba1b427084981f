import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { inspectImage, mountRoot } from "../../src/index.js";
import { MIB, makeExt4, makeGptDisk, TYPE, toQcow2 } from "../helpers/disk.js";
import { leftOf, rootTree, sha256Of } from "../helpers/mounts.js";
import { stateFolder } from "../helpers/temp.js";

const NEEDS: readonly Need[] = [
  "root",
  "fuse",
  "loop",
  "program:qemu-storage-daemon",
  "program:qemu-img",
  "program:mke2fs",
];

/** A disk of Linux partitions without a telling type or label, by size and content. */
async function disk(folder: string, contents: readonly { bytes: number; from: string }[]): Promise<string> {
  const file = join(folder, "disk.raw");
  const size = 128 * MIB;
  let start = MIB;
  const partitions = contents.map(({ bytes, from }) => {
    const partition = { start, bytes, type: TYPE.linux, label: "", from };
    start += bytes;
    return partition;
  });
  await makeGptDisk(file, size, partitions);
  for (const partition of partitions)
    await makeExt4(file, { ...partition, offset: partition.start, label: "" });
  await truncate(file, size);
  return file;
}

async function homeTree(folder: string): Promise<string> {
  const home = join(folder, "home");
  await mkdir(join(home, "user"), { recursive: true });
  await writeFile(join(home, "user/etc"), "");
  return home;
}

testNeeding(
  NEEDS,
  "among partitions that neither type nor label tells apart, the one that holds a root is taken, not the largest",
  async () => {
    const stateDir = await stateFolder();
    const raw = await disk(stateDir, [
      { bytes: 64 * MIB, from: await homeTree(stateDir) },
      { bytes: 24 * MIB, from: await rootTree(stateDir) },
    ]);
    for (const image of [raw, await toQcow2(raw)]) {
      const before = await sha256Of(image);
      expect((await inspectImage(image)).root).toMatchObject({
        partition: { index: 1 },
        reason: "it is the largest Linux filesystem",
        rivals: [{ index: 2 }],
      });
      const root = await mountRoot({ image, stateDir, holder: "one" });
      expect(root.partition).toMatchObject({ index: 2, reason: "it holds /etc and /usr" });
      expect(await readFile(join(root.path, "etc/hostname"), "utf8")).toBe("inside\n");
      await root.release();
      const given = await mountRoot({ image, stateDir, holder: "one", partition: 1 });
      expect(given.partition).toMatchObject({ index: 1, reason: "it was given" });
      await given.release();
      expect([await leftOf(stateDir), await sha256Of(image)]).toEqual([[], before]);
    }
  },
);

testNeeding(
  NEEDS,
  "where none of them holds a root the largest is taken, and its reason says so",
  async () => {
    const stateDir = await stateFolder();
    const home = await homeTree(stateDir);
    const image = await disk(stateDir, [
      { bytes: 24 * MIB, from: home },
      { bytes: 64 * MIB, from: home },
    ]);
    const root = await mountRoot({ image, stateDir, holder: "one" });
    expect(root.partition).toMatchObject({ index: 2, reason: "it is the largest Linux filesystem" });
    await root.release();
    expect(await leftOf(stateDir)).toEqual([]);
  },
);
