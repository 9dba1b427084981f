import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { listRoots, mountRoot, type Resource, type RootSystem, realSystem } from "../../src/index.js";
import { makeRootDisk, toQcow2 } from "../helpers/disk.js";
import { leftOf, rootTree, sha256Of } from "../helpers/mounts.js";
import { stateFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

const NEEDS = [
  "root",
  "fuse",
  "loop",
  "program:qemu-storage-daemon",
  "program:qemu-img",
  "program:mke2fs",
] as const;

async function qcow2(stateDir: string): Promise<string> {
  const raw = await makeRootDisk(stateDir, await rootTree(stateDir));
  return await toQcow2(raw, ["-c", "-o", "compression_type=zstd"]);
}

testNeeding(
  NEEDS,
  "a zstd qcow2 is mounted read-only through the storage daemon and stays as it was",
  async () => {
    const stateDir = await stateFolder();
    const image = await qcow2(stateDir);
    const before = await sha256Of(image);
    const root = await mountRoot({ image, stateDir, holder: "one", way: "fuse-export" });
    expect(await readFile(join(root.path, "etc/hostname"), "utf8")).toBe("inside\n");
    await expect(writeFile(join(root.path, "etc/x"), "")).rejects.toMatchObject({ code: "EROFS" });
    expect(root).toMatchObject({
      way: "fuse-export",
      journalReplayed: false,
      partition: { index: 2, filesystem: "ext4", reason: "its label names a root" },
      holders: ["one"],
    });
    expect(root.uuid).toMatch(/^[0-9a-f-]{36}$/);
    expect(await listRoots({ stateDir })).toMatchObject([{ id: root.id, holders: ["one"] }]);
    await root.release();
    await root.release();
    expect(await leftOf(stateDir)).toEqual([]);
    expect(await sha256Of(image)).toBe(before);
  },
);

testNeeding(
  NEEDS,
  "a qcow2 that was not closed (dirty bit) is served, and not repaired: it stays as it was",
  async () => {
    const stateDir = await stateFolder();
    const image = await qcow2(stateDir);
    const bytes = await readFile(image);
    bytes.writeBigUInt64BE(bytes.readBigUInt64BE(72) | 1n, 72);
    await writeFile(image, bytes);
    const before = await sha256Of(image);
    const root = await mountRoot({ image, stateDir, holder: "one", way: "fuse-export" });
    expect(await readFile(join(root.path, "etc/hostname"), "utf8")).toBe("inside\n");
    await root.release();
    expect(await sha256Of(image)).toBe(before);
  },
);

testNeeding(NEEDS, "each way that was passed over says why", async () => {
  const stateDir = await stateFolder();
  const system = {
    ...realSystem,
    exists: async (path: string) => path !== "/dev/nbd0" && (await realSystem.exists(path)),
  };
  const noModule: RootSystem = {
    ...system,
    run: async (file, argv) => {
      if (file === "modprobe")
        throw Object.assign(new Error("failed"), { stderr: "modprobe: FATAL: Module nbd not found" });
      await realSystem.run(file, argv);
    },
  };
  const root = await mountRoot({ image: await qcow2(stateDir), stateDir, holder: "one", system: noModule });
  expect(root.way).toBe("fuse-export");
  expect(root.passedOver).toEqual([
    { way: "folder", reason: "the image is a file, not a folder" },
    { way: "erofs-file", reason: "the image is qcow2, not raw" },
    { way: "raw-loop", reason: "the image is qcow2, not raw" },
    {
      way: "nbd",
      reason: "/dev/nbd0 is missing and modprobe nbd failed: modprobe: FATAL: Module nbd not found",
    },
  ]);
  await root.release();
});

testNeeding(
  ["root", "loop", "program:mke2fs"],
  "a raw disk goes straight to a loop device, a whole-disk file system too",
  async () => {
    const stateDir = await stateFolder();
    const tree = await rootTree(stateDir);
    const image = await makeRootDisk(stateDir, tree);
    const bare = join(stateDir, "bare.raw");
    await execa("mke2fs", ["-q", "-F", "-t", "ext4", "-d", tree, bare, "8192k"]);
    for (const [path, index] of [
      [image, 2],
      [bare, 0],
    ] as const) {
      const before = await sha256Of(path);
      const root = await mountRoot({ image: path, stateDir, holder: "one" });
      expect(root).toMatchObject({ way: "raw-loop", partition: { index } });
      expect(root.daemonPid).toBeUndefined();
      expect(await readFile(join(root.path, "etc/hostname"), "utf8")).toBe("inside\n");
      await root.release();
      expect(await sha256Of(path)).toBe(before);
    }
    expect(await leftOf(stateDir)).toEqual([]);
  },
);

testNeeding(["root"], "a folder is bound read-only, and is writable again at its own place", async () => {
  const stateDir = await stateFolder();
  const tree = await rootTree(stateDir);
  const root = await mountRoot({ image: tree, stateDir, holder: "one" });
  expect(root).toMatchObject({ way: "folder", device: tree, passedOver: [] });
  await expect(writeFile(join(root.path, "x"), "")).rejects.toMatchObject({ code: "EROFS" });
  await root.release();
  await writeFile(join(tree, "x"), "");
  expect(await readFile(join(tree, "etc/hostname"), "utf8")).toBe("inside\n");
  expect(await leftOf(stateDir)).toEqual([]);
});

testNeeding(NEEDS, "commas, quotes, spaces and equals signs in paths reach QEMU as they are", async () => {
  const outer = await stateFolder();
  const stateDir = join(outer, 'state ,"a"=b');
  await mkdir(stateDir);
  const image = join(stateDir, 'im,age "1" filename=x.qcow2');
  await rename(await qcow2(stateDir), image);
  const root = await mountRoot({ image, stateDir, holder: "one", way: "fuse-export" });
  expect(await readFile(join(root.path, "etc/hostname"), "utf8")).toBe("inside\n");
  await root.release();
  expect(await leftOf(stateDir)).toEqual([]);
});

testNeeding(
  NEEDS,
  "no free loop device is an error with a remedy, and nothing of the attempt stays",
  async () => {
    // The loop call is a fake: the machine's own loop devices are not ours to use up.
    const stateDir = await stateFolder();
    for (const code of ["NO_FREE_LOOP", "ENOSPC", "ENOENT"]) {
      const attachLoop = () => Promise.reject(Object.assign(new Error("none"), { code }));
      const system = { ...realSystem, attachLoop };
      const error = await failure(
        async () =>
          mountRoot({ image: await qcow2(stateDir), stateDir, holder: "one", system, way: "fuse-export" }),
        "NO_FREE_LOOP",
      );
      expect(error.hint).toContain("losetup");
      expect(await leftOf(stateDir)).toEqual([]);
    }
  },
);

testNeeding(
  NEEDS,
  "a disk without a root, and a root that cannot be mounted, leave nothing behind",
  async () => {
    const stateDir = await stateFolder();
    const blank = join(stateDir, "blank.raw");
    await writeFile(blank, Buffer.alloc(1 << 20));
    const image = await toQcow2(blank);
    await failure(
      () => mountRoot({ image, stateDir, holder: "one", way: "fuse-export" }),
      "NO_ROOT_PARTITION",
    );
    const bad = join(stateDir, "bad.raw");
    await execa("mke2fs", ["-q", "-F", "-t", "ext4", bad, "8192k"]);
    await execa("debugfs", ["-w", "-R", "set_super_value log_block_size 60", bad]);
    const error = await failure(() => mountRoot({ image: bad, stateDir, holder: "one" }), "MOUNT_FAILED");
    expect(error.hint).toContain("dmesg");
    expect(await leftOf(stateDir)).toEqual([]);
  },
);

testNeeding(
  NEEDS,
  "a daemon that does not come up is told with its own words, and nothing stays",
  async () => {
    const stateDir = await stateFolder();
    const image = await qcow2(stateDir);
    const system: RootSystem = {
      ...realSystem,
      run: async (file, argv) => {
        if (file === "modprobe") throw new Error("no module");
        await realSystem.run(
          file,
          argv.map((word) => word.replace('"type":"fuse"', '"type":"nonsense"')),
        );
      },
    };
    const error = await failure(
      () => mountRoot({ image, stateDir, holder: "one", system, way: "fuse-export" }),
      "NO_WAY",
    );
    expect(error.message).toContain("nonsense");
    expect(await leftOf(stateDir)).toEqual([]);
  },
);

test("a way that cannot be is refused with its reason", async () => {
  const stateDir = await stateFolder();
  const tree = await rootTree(stateDir);
  const error = await failure(
    () => mountRoot({ image: tree, stateDir, holder: "one", way: "nbd" }),
    "NO_WAY",
  );
  expect(error.message).toContain("nbd: the image is a folder");
  await failure(() => mountRoot({ image: join(stateDir, "none"), stateDir, holder: "one" }), "NO_SUCH_IMAGE");
});

testNeeding(
  NEEDS,
  "the caller's journal hears of everything before it is there, and of its end",
  async () => {
    const stateDir = await stateFolder();
    const held = new Map<string, Resource>();
    const order: string[] = [];
    const journal = {
      acquire: async (resource: Resource) => {
        order.push(resource.kind === "mount" && resource.id === "root" ? "hold" : resource.kind);
        held.set(`${resource.kind} ${resource.id}`, resource);
        if (resource.kind === "folder") await expect(stat(resource.id)).rejects.toThrow("ENOENT");
      },
      release: async (resource: Resource) => {
        held.delete(`${resource.kind} ${resource.id}`);
      },
    };
    const root = await mountRoot({
      image: await qcow2(stateDir),
      stateDir,
      holder: "one",
      way: "fuse-export",
      journal,
    });
    expect(order).toEqual(["hold", "folder", "process", "loop", "mount"]);
    expect(held.get("mount root")).toMatchObject({ rootId: root.id, holder: "one" });
    await root.release();
    expect([...held.keys()]).toEqual([]);
  },
);
