import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { collectRoots, listRoots, mountRoot } from "../../src/index.js";
import { makeDirtyDisk } from "../helpers/dirty.js";
import { makeRootDisk, toQcow2 } from "../helpers/disk.js";
import { killAtEachCall, OWNER_NEEDS } from "../helpers/killed-owner.js";
import { daemonsOf, leftOf, rootTree } from "../helpers/mounts.js";
import { stateFolder } from "../helpers/temp.js";

const NEEDS = [
  "root",
  "fuse",
  "loop",
  "program:qemu-storage-daemon",
  "program:qemu-img",
  "program:mke2fs",
] as const;

testNeeding(
  [...NEEDS, ...OWNER_NEEDS],
  "an owner killed during or after any step of a mount leaves nothing that a collection does not clear",
  async () => {
    const stateDir = await stateFolder();
    const image = await toQcow2(await makeRootDisk(stateDir, await rootTree(stateDir)));
    const options = { image, stateDir, way: "fuse-export" } as const;
    expect(await killAtEachCall(stateDir, () => ({ act: "mount", options }))).toEqual([
      "makeFolder",
      "writeRecord",
      "makeFile",
      "run",
      "attachLoop",
      "mount",
      "writeRecord",
    ]);
  },
);

testNeeding(
  [...NEEDS, ...OWNER_NEEDS],
  "an owner killed during or after any step of a journal's replay leaves nothing either",
  async () => {
    const stateDir = await stateFolder();
    const image = await toQcow2(await makeDirtyDisk(stateDir, await rootTree(stateDir)));
    const options = { image, stateDir, way: "fuse-export" } as const;
    const steps = await killAtEachCall(stateDir, () => ({ act: "mount", options }));
    expect(steps).toContain("writeSysfs");
    expect(steps.filter((step) => step === "mount")).toHaveLength(1);
    expect(steps.filter((step) => step === "endProcess")).toHaveLength(2);
  },
);

testNeeding(
  ["loop", "program:mke2fs", ...OWNER_NEEDS],
  "the same for a raw disk on a loop device and for a folder",
  async () => {
    const stateDir = await stateFolder();
    const tree = await rootTree(stateDir);
    const image = await makeRootDisk(stateDir, tree);
    const raw = { image, stateDir, way: "raw-loop" } as const;
    expect(await killAtEachCall(stateDir, () => ({ act: "mount", options: raw }))).toContain("attachLoop");
    const folder = { image: tree, stateDir };
    expect(await killAtEachCall(stateDir, () => ({ act: "mount", options: folder }))).toContain("mount");
    expect(await readdir(tree)).toEqual(["etc", "usr"]);
  },
);

testNeeding(
  [...NEEDS, ...OWNER_NEEDS],
  "an owner killed during or after any step of a release leaves nothing that a collection does not clear",
  async () => {
    const stateDir = await stateFolder();
    const image = await toQcow2(await makeRootDisk(stateDir, await rootTree(stateDir)));
    const steps = await killAtEachCall(stateDir, async () => {
      const { id } = await mountRoot({ image, stateDir, holder: "one", way: "fuse-export" });
      return { act: "release", options: { stateDir, rootId: id } };
    });
    expect(steps.slice(0, 3)).toEqual(["writeRecord", "unmount", "endProcess"]);
  },
);

testNeeding(NEEDS, "only what no live holder holds is collected", async () => {
  const stateDir = await stateFolder();
  const image = await toQcow2(await makeRootDisk(stateDir, await rootTree(stateDir)));
  const { id } = await mountRoot({ image, stateDir, holder: "alive", way: "fuse-export" });
  await mountRoot({ image, stateDir, holder: "dead", way: "fuse-export" });
  expect(await collectRoots({ stateDir, liveHolders: ["alive", "other"] })).toEqual({
    removed: [],
    kept: [{ id, holders: ["alive"], lost: false }],
    failed: [],
  });
  expect(await collectRoots({ stateDir, liveHolders: [] })).toMatchObject({
    removed: [{ id, why: "no holder of it lives" }],
  });
  expect(await leftOf(stateDir)).toEqual([]);
});

testNeeding(
  NEEDS,
  "a dead daemon with a stale export, a spoilt record and stray files are cleared",
  async () => {
    const stateDir = await stateFolder();
    const image = await toQcow2(await makeRootDisk(stateDir, await rootTree(stateDir)));
    const root = await mountRoot({ image, stateDir, holder: "one", way: "fuse-export" });
    const folder = join(stateDir, "roots", root.id);
    sys.umount2(root.path, 0);
    process.kill(root.daemonPid ?? 0, "SIGKILL");
    while ((await daemonsOf(stateDir)).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await writeFile(join(folder, "root.json"), "{ spoilt");
    await writeFile(join(folder, "root.json.1.abc.tmp"), "half");
    await mkdir(join(stateDir, "roots/empty"));
    const { removed, failed } = await collectRoots({ stateDir, liveHolders: ["one"] });
    expect(failed).toEqual([]);
    expect(removed.map(({ id }) => id).sort()).toEqual([root.id, "empty"].sort());
    expect(await leftOf(stateDir)).toEqual([]);
  },
);

testNeeding(["root"], "a state folder that was never used has nothing to collect", async () => {
  const stateDir = await stateFolder();
  expect(await collectRoots({ stateDir, liveHolders: [] })).toEqual({ removed: [], kept: [], failed: [] });
});

testNeeding(NEEDS, "holders are asked under the lock: one that comes meanwhile keeps its root", async () => {
  const stateDir = await stateFolder();
  const image = await toQcow2(await makeRootDisk(stateDir, await rootTree(stateDir)));
  let mounting: Promise<unknown> = Promise.resolve();
  const first = await collectRoots({
    stateDir,
    liveHolders: async () => {
      // This mount waits for the lock that the collection holds, and its holder is known before it has its root.
      mounting = mountRoot({ image, stateDir, holder: "late" });
      return ["late"];
    },
  });
  await mounting;
  expect(first.removed).toEqual([]);
  expect((await listRoots({ stateDir })).map(({ holders }) => holders)).toEqual([["late"]]);
  const { removed } = await collectRoots({ stateDir, liveHolders: async () => [] });
  expect(removed).toHaveLength(1);
});
