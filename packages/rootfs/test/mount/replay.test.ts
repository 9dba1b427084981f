import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { execa } from "execa";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { inspectImage, mountRoot, realSystem } from "../../src/index.js";
import { LATE_FILES, makeDirtyDisk } from "../helpers/dirty.js";
import { toQcow2 } from "../helpers/disk.js";
import { leftOf, rootTree, sha256Of } from "../helpers/mounts.js";
import { stateFolder } from "../helpers/temp.js";

const NEEDS = [
  "root",
  "fuse",
  "loop",
  "program:qemu-storage-daemon",
  "program:qemu-img",
  "program:mke2fs",
] as const;

const late = async (folder: string) => (await readdir(folder)).filter((name) => name.startsWith("late-"));

testNeeding(
  NEEDS,
  "a dirty journal of a qcow2 is replayed into an overlay: right content, image untouched",
  async () => {
    const stateDir = await stateFolder();
    const image = await toQcow2(await makeDirtyDisk(stateDir, await rootTree(stateDir)));
    const before = await sha256Of(image);
    expect(await inspectImage(image)).toMatchObject({ journal: "needs recovery" });

    const root = await mountRoot({ image, stateDir, holder: "one", way: "fuse-export" });
    expect(root.journalReplayed).toBe(true);
    expect(await late(root.path)).toHaveLength(LATE_FILES.length);
    await root.release();
    expect(await leftOf(stateDir)).toEqual([]);
    expect(await sha256Of(image)).toBe(before);
  },
);

testNeeding(NEEDS, "the same disk mounted with noload lacks the files that the replay brings", async () => {
  const stateDir = await stateFolder();
  const raw = await makeDirtyDisk(stateDir, await rootTree(stateDir));
  const loop = await realSystem.attachLoop({ file: raw, offset: 5 << 20, bytes: 26 << 20, readOnly: true });
  const target = join(stateDir, "live");
  sys.mount(target, { source: loop.device, fsType: "ext4", flags: sys.MS.RDONLY, data: "noload" });
  loop.close();
  expect((await late(target)).length).toBeLessThan(LATE_FILES.length);
  sys.umount2(target, 0);
});

testNeeding(
  NEEDS,
  "a raw disk with a dirty journal is not attached itself but served under an overlay",
  async () => {
    const stateDir = await stateFolder();
    const image = await makeDirtyDisk(stateDir, await rootTree(stateDir));
    const before = await sha256Of(image);
    const times = await stat(image, { bigint: true });
    const root = await mountRoot({ image, stateDir, holder: "one" });
    expect(root.way).not.toBe("raw-loop");
    expect(root.passedOver).toContainEqual({
      way: "raw-loop",
      reason: "the journal needs a replay, which would write to the image itself",
    });
    expect(await late(root.path)).toHaveLength(LATE_FILES.length);
    await root.release();
    expect(await sha256Of(image)).toBe(before);
    expect((await stat(image, { bigint: true })).mtimeNs).toBe(times.mtimeNs);
  },
);

testNeeding(
  NEEDS,
  "what is served after a replay is, byte for byte, what e2fsck makes of a copy",
  async () => {
    const stateDir = await stateFolder();
    const raw = await makeDirtyDisk(stateDir, await rootTree(stateDir));
    const image = await toQcow2(raw);
    const root = await mountRoot({ image, stateDir, holder: "one", way: "fuse-export" });
    await execa("e2fsck", ["-y", "-E", "journal_only", `${raw}?offset=${5 << 20}`], { reject: false });
    const expected = (await readFile(raw)).subarray(5 << 20, 31 << 20);
    const served = (await readFile(join(stateDir, "roots", root.id, "disk"))).subarray(5 << 20, 31 << 20);
    // Times and checksum in the superblock, at 1024, are the moment's own.
    expect(served.subarray(2048).equals(expected.subarray(2048))).toBe(true);
    await root.release();
  },
);
