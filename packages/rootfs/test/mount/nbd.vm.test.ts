import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { checkRoot, collectRoots, mountRoot } from "../../src/index.js";
import { LATE_FILES, makeDirtyDisk } from "../helpers/dirty.js";
import { makeRootDisk, toQcow2 } from "../helpers/disk.js";
import { killAt, OWNER_NEEDS } from "../helpers/killed-owner.js";
import { daemonsOf, leftOf, rootTree, sha256Of } from "../helpers/mounts.js";

const NEEDS: readonly Need[] = [
  "root",
  "loop",
  "program:qemu-nbd",
  "program:qemu-img",
  "program:mke2fs",
  "program:modprobe",
];

let images: string;
/** Made once: the guest's processor is slow. */
let image: string;
let stateDir: string;
beforeAll(async () => {
  images = await mkdtemp(join(tmpdir(), "drums-nbd-images-"));
  image = await toQcow2(await makeRootDisk(images, await rootTree(images)), ["-c"]);
});
afterAll(() => rm(images, { recursive: true }));
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "drums-nbd-"));
});
afterEach(async () => {
  await collectRoots({ stateDir, liveHolders: [] });
  await rm(stateDir, { recursive: true });
});

/** NBD devices that a process serves. */
async function served(): Promise<string[]> {
  const names = (await readdir("/sys/block")).filter((name) => name.startsWith("nbd"));
  const found = await Promise.all(names.map((name) => stat(`/sys/block/${name}/pid`).catch(() => undefined)));
  return names.filter((_, index) => found[index] !== undefined);
}

testNeeding(
  NEEDS,
  "a qcow2 is mounted by the kernel's NBD, its module loaded by the probe, and stays as it was",
  async () => {
    const before = await sha256Of(image);
    await execa("modprobe", ["-r", "nbd"]);
    const root = await mountRoot({ image, stateDir, holder: "one" });
    expect(root).toMatchObject({ way: "nbd", partition: { index: 2, filesystem: "ext4" } });
    expect(root.passedOver.map(({ way }) => way)).toEqual(["folder", "erofs-file", "raw-loop"]);
    expect(await readFile(join(root.path, "etc/hostname"), "utf8")).toBe("inside\n");
    await checkRoot(root);
    expect(await daemonsOf(stateDir)).toEqual([root.daemonPid]);
    expect(await served()).toHaveLength(1);

    const other = await mountRoot({ image, stateDir, holder: "two" });
    expect(other.id).toBe(root.id);
    await root.release();
    await checkRoot(other);
    await other.release();
    expect([await leftOf(stateDir), await served(), await sha256Of(image)]).toEqual([[], [], before]);
  },
);

testNeeding(NEEDS, "roots that are mounted at the same time get a device each", async () => {
  const stateDirs = ["a", "b", "c"].map((name) => join(stateDir, name));
  const roots = await Promise.all(
    stateDirs.map((folder) => mountRoot({ image, stateDir: folder, holder: "one", way: "nbd" })),
  );
  expect(await served()).toHaveLength(roots.length);
  for (const root of roots) expect(await readFile(join(root.path, "etc/hostname"), "utf8")).toBe("inside\n");
  for (const root of roots) await root.release();
  expect(await served()).toEqual([]);
});

testNeeding(
  NEEDS,
  "a dirty journal is replayed through NBD into an overlay, the image untouched",
  async () => {
    const dirty = await toQcow2(await makeDirtyDisk(stateDir, await rootTree(stateDir)));
    const before = await sha256Of(dirty);
    const root = await mountRoot({ image: dirty, stateDir, holder: "one", way: "nbd" });
    expect(root.journalReplayed).toBe(true);
    const late = (await readdir(root.path)).filter((name) => name.startsWith("late-"));
    expect(late).toHaveLength(LATE_FILES.length);
    await root.release();
    expect([await leftOf(stateDir), await served(), await sha256Of(dirty)]).toEqual([[], [], before]);
  },
);

testNeeding(NEEDS, "a killed qemu-nbd is named, is mended by the next mount, and is torn down", async () => {
  const lost = await mountRoot({ image, stateDir, holder: "one", way: "nbd" });
  process.kill(lost.daemonPid ?? 0, "SIGKILL");
  while ((await daemonsOf(stateDir)).length > 0) await sleep(5);
  await expect(checkRoot(lost)).rejects.toMatchObject({
    code: "DAEMON_LOST",
    message: expect.stringContaining("qemu-nbd"),
  });
  const mended = await mountRoot({ image, stateDir, holder: "two", way: "nbd" });
  expect(await readFile(join(mended.path, "etc/hostname"), "utf8")).toBe("inside\n");
  await checkRoot(mended);
  await lost.release();
  await mended.release();
  expect([await leftOf(stateDir), await served()]).toEqual([[], []]);
});

testNeeding(
  [...NEEDS, ...OWNER_NEEDS],
  "an owner killed while qemu-nbd starts, or when all is mounted and nothing recorded, leaves nothing",
  async () => {
    const act = { act: "mount", options: { image, stateDir, way: "nbd" } } as const;
    for (const [calls, moment, last] of [
      [3, "during", "run"],
      [5, "after", "mount"],
    ] as const) {
      expect((await killAt(stateDir, act, { calls, moment })).at(-1)).toBe(last);
      expect(await served()).toEqual([]);
    }
  },
);
