import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { expect } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { mountRoot } from "../../src/index.js";
import { makeRootDisk, toQcow2 } from "../helpers/disk.js";
import { leftOf, rootTree, sha256Of } from "../helpers/mounts.js";
import { stateFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

const NEEDS: readonly Need[] = [
  "root",
  "fuse",
  "loop",
  "program:qemu-storage-daemon",
  "program:qemu-img",
  "program:mke2fs",
];

async function expectRoot(options: Parameters<typeof mountRoot>[0]): Promise<void> {
  const root = await mountRoot(options);
  expect(await readFile(join(root.path, "etc/hostname"), "utf8")).toBe("inside\n");
  await root.release();
  expect(await leftOf(options.stateDir)).toEqual([]);
}

testNeeding(
  NEEDS,
  "a chain of backing files is mounted when each of its paths is allowed, and no file of it changes",
  async () => {
    const stateDir = await stateFolder();
    const base = await toQcow2(await makeRootDisk(stateDir, await rootTree(stateDir)));
    const [middle, image] = [join(stateDir, "middle.qcow2"), join(stateDir, "top.qcow2")];
    for (const [below, file] of [
      ["disk.qcow2", middle],
      [middle, image],
    ] as const)
      await execa("qemu-img", ["create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", below, file]);
    const before = await Promise.all([base, middle, image].map(sha256Of));
    const ask = { image, stateDir, holder: "one" };
    await failure(() => mountRoot(ask), "BACKING_FILE");
    await failure(() => mountRoot({ ...ask, allow: [middle] }), "BACKING_FILE");
    await expectRoot({ ...ask, allow: [middle, base] });
    expect(await Promise.all([base, middle, image].map(sha256Of))).toEqual(before);
  },
);

for (const raw of ["on", "off"])
  testNeeding(
    NEEDS,
    `an external data file (data_file_raw=${raw}) is mounted when its path is allowed, and found again when both moved`,
    async () => {
      const stateDir = await stateFolder();
      const disk = await makeRootDisk(stateDir, await rootTree(stateDir));
      const cwd = join(stateDir, "made");
      await mkdir(cwd);
      const file = join(cwd, "image.qcow2");
      const options = `data_file=data.raw,data_file_raw=${raw}`;
      // qemu-img itself looks for such a name in the folder that it is started in.
      await execa("qemu-img", ["create", "-q", "-f", "qcow2", "-o", options, file, "32M"], { cwd });
      await execa("qemu-img", ["convert", "-n", "-f", "raw", "-O", "qcow2", disk, file], { cwd });
      await rename(cwd, join(stateDir, "moved"));
      const [image, data] = [join(stateDir, "moved/image.qcow2"), join(stateDir, "moved/data.raw")];
      const before = await Promise.all([image, data].map(sha256Of));
      const ask = { image, stateDir, holder: "one" };
      await failure(() => mountRoot(ask), "DATA_FILE");
      await expectRoot({ ...ask, allow: [data] });
      expect(await Promise.all([image, data].map(sha256Of))).toEqual(before);
    },
  );

testNeeding(NEEDS, "a file that is not on the list is refused whatever else is on it", async () => {
  const stateDir = await stateFolder();
  const base = await toQcow2(await makeRootDisk(stateDir, await rootTree(stateDir)));
  const secret = join(stateDir, "secret");
  await writeFile(secret, "secret");
  const image = join(stateDir, "top.qcow2");
  await execa("qemu-img", ["create", "-q", "-f", "qcow2", "-u", "-F", "raw", "-b", secret, image, "1M"]);
  await failure(() => mountRoot({ image, stateDir, holder: "one", allow: [base] }), "BACKING_FILE");
});
