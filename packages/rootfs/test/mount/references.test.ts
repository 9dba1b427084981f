import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { execa } from "execa";
import { expect, onTestFinished } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import {
  checkRoot,
  collectRoots,
  freshUpper,
  listRoots,
  mountRoot,
  overlayOptions,
  releaseRoot,
} from "../../src/index.js";
import { makeRootDisk, toQcow2 } from "../helpers/disk.js";
import { daemonsOf, leftOf, rootTree } from "../helpers/mounts.js";
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
  return await toQcow2(await makeRootDisk(stateDir, await rootTree(stateDir)));
}

testNeeding(
  NEEDS,
  "holders that ask at the same time share one mount, and the last one takes it down",
  async () => {
    const stateDir = await stateFolder();
    const image = await qcow2(stateDir);
    const names = ["a", "b", "c", "d"];
    const roots = await Promise.all(
      names.map((holder) => mountRoot({ image, stateDir, holder, way: "fuse-export" })),
    );
    expect(new Set(roots.map(({ id }) => id)).size).toBe(1);
    expect(await daemonsOf(stateDir)).toHaveLength(1);
    const [listed] = await listRoots({ stateDir });
    expect([...(listed?.holders ?? [])].sort()).toEqual(names);
    const [first, ...others] = roots;
    await Promise.all(others.map((root) => root.release()));
    await checkRoot(first as (typeof roots)[number]);
    expect(await listRoots({ stateDir })).toMatchObject([{ holders: ["a"] }]);
    expect(await releaseRoot({ stateDir, rootId: first?.id ?? "", holder: "nobody" })).toEqual({
      removed: false,
    });
    expect(await releaseRoot({ stateDir, rootId: first?.id ?? "", holder: "a" })).toEqual({ removed: true });
    expect(await releaseRoot({ stateDir, rootId: first?.id ?? "", holder: "a" })).toEqual({ removed: false });
    expect(await leftOf(stateDir)).toEqual([]);
  },
);

testNeeding(
  ["root", "program:flock"],
  "while another process holds the lock nobody mounts, and the error names the file",
  async () => {
    const stateDir = await stateFolder();
    const tree = await rootTree(stateDir);
    await mkdir(join(stateDir, "roots"));
    const lock = join(stateDir, "roots/lock");
    const other = execa("flock", ["--no-fork", lock, "sh", "-c", "echo held; exec sleep 60"], {
      buffer: false,
      reject: false,
    });
    onTestFinished(async () => {
      other.kill("SIGKILL");
      await other;
    });
    await once(other.stdout, "data");
    const error = await failure(
      () => mountRoot({ image: tree, stateDir, holder: "one", timeoutMs: 100 }),
      "ROOT_BUSY",
    );
    expect(error.path).toBe(lock);
  },
);

testNeeding(
  NEEDS,
  "a daemon killed in use is named, the teardown still succeeds, and the next mount mends the export",
  async () => {
    const stateDir = await stateFolder();
    const image = await qcow2(stateDir);
    const root = await mountRoot({ image, stateDir, holder: "one", way: "fuse-export" });
    await checkRoot(root);
    process.kill(root.daemonPid ?? 0, "SIGKILL");
    await gone(stateDir);
    const error = await failure(() => checkRoot(root), "DAEMON_LOST");
    expect(error.message).toContain(`pid ${root.daemonPid}`);
    const again = await mountRoot({ image, stateDir, holder: "two", way: "fuse-export" });
    expect(again.holders).toEqual(["one", "two"]);
    await checkRoot(again);
    expect(await readFile(join(again.path, "etc/hostname"), "utf8")).toBe("inside\n");
    process.kill(again.daemonPid ?? 0, "SIGKILL");
    await gone(stateDir);
    await again.release();
    await root.release();
    expect(await leftOf(stateDir)).toEqual([]);
  },
);

testNeeding(
  NEEDS,
  "a root under a live overlay is not taken from it: the daemon stays until the overlay is gone",
  async () => {
    const stateDir = await stateFolder();
    const root = await mountRoot({
      image: await qcow2(stateDir),
      stateDir,
      holder: "one",
      way: "fuse-export",
    });
    const { upper, work } = await freshUpper(join(stateDir, "session"));
    const overlay = join(stateDir, "overlay");
    await mkdir(overlay);
    sys.mount(overlay, {
      source: "overlay",
      fsType: "overlay",
      data: overlayOptions({ lowers: [root.path], upper, work }),
    });
    const release = { stateDir, rootId: root.id, holder: "one", timeoutMs: 100 };
    await failure(() => releaseRoot(release), "TEARDOWN_FAILED");
    expect(await daemonsOf(stateDir)).toHaveLength(1);
    expect(await readFile(join(overlay, "etc/hostname"), "utf8")).toBe("inside\n");
    expect(await collectRoots({ stateDir, liveHolders: [], timeoutMs: 100 })).toMatchObject({
      failed: [{ id: root.id }],
    });
    sys.umount2(overlay, 0);
    expect(await collectRoots({ stateDir, liveHolders: [] })).toMatchObject({
      removed: [{ id: root.id }],
      failed: [],
    });
    expect(await leftOf(stateDir)).toEqual([]);
  },
);

async function gone(stateDir: string): Promise<void> {
  while ((await daemonsOf(stateDir)).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}
