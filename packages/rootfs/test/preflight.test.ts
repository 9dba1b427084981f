import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { preflight, realSystem } from "../src/index.js";
import { temporaryFolder } from "./helpers/temp.js";

// The machine is faked: what it lacks must be told whatever this one has.
async function machine(files: readonly string[], programs: readonly string[], filesystems: string) {
  const proc = await temporaryFolder();
  await mkdir(proc, { recursive: true });
  await writeFile(join(proc, "filesystems"), filesystems);
  const system = {
    ...realSystem,
    exists: async (path: string) => files.includes(path),
    onPath: async (name: string) => programs.includes(name),
    run: async () => {
      throw new Error("no module");
    },
  };
  const items = await preflight({ proc, system });
  for (const item of items) if (item.status !== "ok") expect(item.remedy, item.name).toBeTruthy();
  return Object.fromEntries(items.map(({ name, status }) => [name, status]));
}

test("a machine without anything is blocked, each time with a remedy", async () => {
  expect(await machine([], [], "")).toMatchObject({
    overlay: "blocker",
    ext4: "blocker",
    "qemu-io": "blocker",
    loop: "blocker",
    nbd: "gap",
    "fuse-export": "blocker",
    "nbd-fuse": "gap",
    "dpkg-deb": "gap",
  });
});

test("one of NBD, the FUSE export and nbdfuse is enough", async () => {
  const programs = ["qemu-img", "qemu-io", "qemu-nbd", "qemu-storage-daemon", "cp", "dpkg-deb", "e2fsck"];
  const filesystems = "nodev\toverlay\n\text4\n";
  const fuse = await machine(["/dev/fuse", "/dev/loop-control"], programs, filesystems);
  expect(fuse).toMatchObject({ overlay: "ok", ext4: "ok", loop: "ok", nbd: "gap", "fuse-export": "ok" });
  const nbd = await machine(["/dev/nbd0", "/dev/loop-control"], programs, filesystems);
  expect(nbd).toMatchObject({ nbd: "ok", "fuse-export": "gap" });
  const others = [...programs.filter((name) => name !== "qemu-storage-daemon"), "nbdfuse"];
  const nbdFuse = await machine(["/dev/fuse", "/dev/loop-control"], others, filesystems);
  expect(nbdFuse).toMatchObject({ nbd: "gap", "fuse-export": "gap", "nbd-fuse": "ok" });
});
