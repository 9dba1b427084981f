import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { checkRoot, collectRoots, mountRoot, realSystem } from "../../src/index.js";
import { rootFolder } from "../../src/mount/layout.js";
import { nbdFuseArguments, nbdServerArguments, probeNbdFuse } from "../../src/mount/nbd-fuse.js";
import { LATE_FILES, makeDirtyDisk } from "../helpers/dirty.js";
import { makeRootDisk, toQcow2 } from "../helpers/disk.js";
import { killAtEachCall, OWNER_NEEDS } from "../helpers/killed-owner.js";
import { daemonsOf, leftOf, rootTree, sha256Of } from "../helpers/mounts.js";
import { stateFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

const NEEDS: readonly Need[] = [
  "root",
  "fuse",
  "loop",
  "program:qemu-nbd",
  "program:nbdfuse",
  "program:qemu-img",
  "program:mke2fs",
];

async function qcow2(stateDir: string): Promise<string> {
  return await toQcow2(await makeRootDisk(stateDir, await rootTree(stateDir)));
}

testNeeding(NEEDS, "qemu-nbd and nbdfuse take the place of the storage daemon", async () => {
  const stateDir = await stateFolder();
  const image = await qcow2(stateDir);
  const before = await sha256Of(image);
  const onPath = async (name: string) => name !== "qemu-storage-daemon" && (await realSystem.onPath(name));
  const exists = async (path: string) => path !== "/dev/nbd0" && (await realSystem.exists(path));
  const run: typeof realSystem.run = async (file, argv, options) => {
    if (file === "modprobe") throw new Error("no such module");
    await realSystem.run(file, argv, options);
  };
  const system = { ...realSystem, onPath, exists, run };
  const root = await mountRoot({ image, stateDir, holder: "one", system });
  expect(root.way).toBe("nbd-fuse");
  expect(root.passedOver.at(-1)).toEqual({
    way: "fuse-export",
    reason: "qemu-storage-daemon is not on PATH (Debian: qemu-system-common)",
  });
  expect(await readFile(join(root.path, "etc/hostname"), "utf8")).toBe("inside\n");
  await checkRoot(root);
  expect((await daemonsOf(stateDir)).sort()).toEqual([root.daemonPid, root.serverPid].sort());
  await root.release();
  expect(await leftOf(stateDir)).toEqual([]);
  expect(await sha256Of(image)).toBe(before);
});

testNeeding(NEEDS, "a dirty journal is replayed through nbdfuse too, the image untouched", async () => {
  const stateDir = await stateFolder();
  const image = await toQcow2(await makeDirtyDisk(stateDir, await rootTree(stateDir)));
  const before = await sha256Of(image);
  const root = await mountRoot({ image, stateDir, holder: "one", way: "nbd-fuse" });
  expect(root.journalReplayed).toBe(true);
  const late = (await readdir(root.path)).filter((name) => name.startsWith("late-"));
  expect(late).toHaveLength(LATE_FILES.length);
  await root.release();
  expect(await leftOf(stateDir)).toEqual([]);
  expect(await sha256Of(image)).toBe(before);
});

for (const lost of ["daemonPid", "serverPid"] as const)
  testNeeding(NEEDS, `a killed ${lost === "daemonPid" ? "nbdfuse" : "qemu-nbd"} is named`, async () => {
    const stateDir = await stateFolder();
    const image = await qcow2(stateDir);
    const root = await mountRoot({ image, stateDir, holder: "one", way: "nbd-fuse" });
    process.kill(root[lost] ?? 0, "SIGKILL");
    while ((await daemonsOf(stateDir)).includes(root[lost] ?? 0)) await sleep(5);
    const error = await failure(() => checkRoot(root), "DAEMON_LOST");
    expect(error.message).toContain(lost === "daemonPid" ? "nbdfuse" : "qemu-nbd");
    const { kept } = await collectRoots({ stateDir, liveHolders: ["one"] });
    expect(kept).toEqual([{ id: root.id, holders: ["one"], lost: true }]);
    await root.release();
    expect(await leftOf(stateDir)).toEqual([]);
  });

testNeeding(
  [...NEEDS, ...OWNER_NEEDS],
  "an owner killed during or after any step of such a mount leaves nothing that a collection does not clear",
  async () => {
    const stateDir = await stateFolder();
    const options = { image: await qcow2(stateDir), stateDir, way: "nbd-fuse" } as const;
    expect(await killAtEachCall(stateDir, () => ({ act: "mount", options }))).toEqual([
      "makeFolder",
      "writeRecord",
      "run",
      "makeFile",
      "removeFile",
      "startDetached",
      "attachLoop",
      "mount",
      "writeRecord",
    ]);
  },
);

testNeeding(
  NEEDS,
  "an nbdfuse that does not come up is told with its own words, and nothing stays",
  async () => {
    const stateDir = await stateFolder();
    const startDetached: typeof realSystem.startDetached = (file, argv, files) =>
      realSystem.startDetached(
        file,
        argv.map((word) => word.replace(/nbd\.sock$/, "none.sock")),
        files,
      );
    const system = { ...realSystem, startDetached };
    const image = await qcow2(stateDir);
    const asked = () => mountRoot({ image, stateDir, holder: "one", way: "nbd-fuse", system });
    expect((await failure(asked, "NO_WAY")).message).toContain("nbdfuse did not come up: nbd_connect_unix");
    expect(await leftOf(stateDir)).toEqual([]);
  },
);

test("it is probed: devices, both programs, and a socket's path that fits", async () => {
  const machine = (files: string[], programs: string[]) => ({
    ...realSystem,
    exists: async (path: string) => files.includes(path),
    onPath: async (program: string) => programs.includes(program),
  });
  const folder = rootFolder("/state", "id");
  const files = ["/dev/fuse", "/dev/loop-control"];
  expect(await probeNbdFuse(machine([], []), folder)).toBe("/dev/fuse is missing");
  expect(await probeNbdFuse(machine(["/dev/fuse"], []), folder)).toBe("/dev/loop-control is missing");
  expect(await probeNbdFuse(machine(files, []), folder)).toContain("qemu-utils");
  expect(await probeNbdFuse(machine(files, ["qemu-nbd"]), folder)).toContain("libnbd-bin");
  const whole = machine(files, ["qemu-nbd", "nbdfuse"]);
  expect(await probeNbdFuse(whole, folder)).toBeUndefined();
  expect(await probeNbdFuse(whole, rootFolder(`/${"x".repeat(100)}`, "id"))).toContain("too long");
});

test("only a replay is served writable", () => {
  const folder = rootFolder("/state", "id");
  const node = { driver: "raw", file: { driver: "file", filename: "/a" } };
  expect(nbdServerArguments(folder, node, false)).toContain("--read-only");
  expect(nbdServerArguments(folder, node, true)).not.toContain("--read-only");
  expect(nbdFuseArguments(folder, false)).toContain("--readonly");
  expect(nbdFuseArguments(folder, true)).not.toContain("--readonly");
});
