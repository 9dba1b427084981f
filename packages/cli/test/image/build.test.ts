import { lstat, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseMountinfo } from "@drums/nsexec/proc";
import { inspectImage, mountRoot } from "@drums/rootfs";
import { execa } from "execa";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { createHome, type Home, homeAt } from "../../src/home.js";
import { buildImage, readImageRecord } from "../../src/image/index.js";
import { recordPath } from "../../src/image/record.js";
import { openboxImage } from "../../src/recipes/images/openbox.js";
import { recipeHash } from "../../src/recipes/index.js";
import { IMAGE_TIMEOUT_MS, sharedHome, testImage } from "../support/test-image.js";

const BUILD: readonly Need[] = ["root", "program:mmdebstrap", "program:qemu-img", "program:mke2fs"];
const MOUNT: readonly Need[] = [...BUILD, "fuse", "loop", "program:qemu-storage-daemon"];
const MIB = 1024 * 1024;

let home: Home;
beforeEach(async () => {
  home = await createHome(homeAt(await mkdtemp(join(tmpdir(), "drums-home-"))));
});
afterEach(() => rm(home.path, { recursive: true, force: true }));

testNeeding(
  BUILD,
  "the openbox image is a zstd qcow2 with a GPT, an ESP and a clean ext4 root",
  async () => {
    const { path } = await testImage();
    const { format, header, table, root, journal } = await inspectImage(path);
    expect([format, header?.compression, table.kind, journal]).toEqual(["qcow2", "zstd", "gpt", "clean"]);
    const { espMiB, rootMiB, rootLabel } = openboxImage.disk;
    expect(table.partitions).toMatchObject([
      { index: 1, start: MIB, bytes: espMiB * MIB, label: "esp" },
      { index: 2, start: (1 + espMiB) * MIB, bytes: rootMiB * MIB, label: "root" },
    ]);
    expect(root).toMatchObject({ partition: { index: 2, filesystem: { kind: "ext4", label: rootLabel } } });
  },
  IMAGE_TIMEOUT_MS,
);

testNeeding(
  BUILD,
  "its record names the recipe, the sha256 and each package's version, and a second build reuses it at once",
  async () => {
    const { path, sha256 } = await testImage();
    const record = await readImageRecord(path);
    expect(record).toMatchObject({ sha256, recipe: { name: "openbox", hash: recipeHash(openboxImage) } });
    expect(path).toContain(record.recipe.hash.slice(0, 12));
    const names = record.packages.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...openboxImage.packages]));
    expect(names.filter((name) => /xserver|xvfb|llvm|^systemd$/.test(name))).toEqual([]);
    const steps: string[] = [];
    const step = <T>(name: string, run: () => Promise<T>) => {
      steps.push(name);
      return run();
    };
    const again = await buildImage("openbox", { home: await sharedHome(), step });
    expect(again).toMatchObject({ path, sha256, reused: true });
    expect(steps).toEqual([]);
  },
  IMAGE_TIMEOUT_MS,
);

testNeeding(
  MOUNT,
  "its root has the desktop's programs, the user and no X server",
  async () => {
    const { path: image } = await testImage();
    const root = await mountRoot({ image, stateDir: home.path, holder: "test" });
    try {
      const at = (path: string) => join(root.path, path);
      const programs = [
        "openbox",
        "xterm",
        "hsetroot",
        "xdotool",
        "python3",
        "dbus-daemon",
        "sudo",
        "ps",
        "bash",
      ];
      for (const program of programs) await stat(at(`usr/bin/${program}`));
      for (const server of ["Xvfb", "Xorg", "X"])
        await expect(lstat(at(`usr/bin/${server}`))).rejects.toMatchObject({ code: "ENOENT" });
      expect(await stat(at("home/user"))).toMatchObject({ uid: 1000, gid: 1000 });
      expect((await stat(root.path)).mode & 0o7777).toBe(0o755);
      expect(await readFile(at("etc/passwd"), "utf8")).toMatch(
        /^user:x:1000:1000:.*:\/home\/user:\/bin\/bash$/m,
      );
      expect(await readFile(at("etc/sudoers.d/user"), "utf8")).toBe("user ALL=(ALL) NOPASSWD: ALL\n");
      expect(await readFile(at("etc/hosts"), "utf8")).toMatch(/^127\.0\.0\.1\s+localhost$/m);
      expect(await readFile(at("etc/machine-id"), "utf8")).toMatch(/^[0-9a-f]{32}\n$/);
    } finally {
      await root.release();
    }
  },
  IMAGE_TIMEOUT_MS,
);

testNeeding(
  MOUNT,
  "nothing of the machine that built it is in the root: no apt lists, caches, proxies, documents or devices",
  async () => {
    const { path: image } = await testImage();
    const root = await mountRoot({ image, stateDir: home.path, holder: "test" });
    try {
      const list = (path: string) => readdir(join(root.path, path)).catch(() => []);
      expect((await list("var/lib/apt/lists")).filter((name) => name.includes("_dists_"))).toEqual([]);
      expect((await list("var/cache/apt")).filter((name) => name.endsWith(".bin"))).toEqual([]);
      expect(await list("etc/apt/apt.conf.d")).not.toContain("99mmdebstrap");
      expect(await list("etc/dpkg/dpkg.cfg.d")).toEqual(["drums-excludes"]);
      for (const folder of openboxImage.emptyFolders) expect(await list(folder)).toEqual([]);
      expect(await list("proc")).toEqual([]);
    } finally {
      await root.release();
    }
  },
  IMAGE_TIMEOUT_MS,
);

testNeeding(
  BUILD,
  "a build that is aborted while packages are unpacked leaves no file and no mount",
  async () => {
    const mountsBefore = await mountPoints();
    const controller = new AbortController();
    const onDetail = (detail: string) => {
      if (detail.startsWith("extracting")) controller.abort();
    };
    const building = buildImage("openbox", { home, signal: controller.signal, onDetail });
    await expect(building).rejects.toMatchObject({ code: "INTERRUPTED" });
    expect(await readdir(home.images)).toEqual([]);
    expect(await mountPoints()).toEqual(mountsBefore);
  },
);

testNeeding(
  BUILD,
  "a suite that the mirror does not have fails with apt's own words and leaves nothing",
  async () => {
    const building = buildImage({ ...openboxImage, suite: "drums-no-such-suite" }, { home });
    await expect(building).rejects.toMatchObject({
      code: "PROGRAM_FAILED",
      why: expect.stringContaining("drums-no-such-suite"),
    });
    expect(await readdir(home.images)).toEqual([]);
  },
);

testNeeding(
  MOUNT,
  "the font cache holds: a desktop's first start scans no font and writes no cache of its own",
  async () => {
    const { path: image } = await testImage();
    const root = await mountRoot({ image, stateDir: home.path, holder: "test" });
    try {
      const { stdout } = await execa("chroot", ["--userspec=1000:1000", root.path, "fc-list"], {
        env: { HOME: "/home/user", FC_DEBUG: "16", PATH: process.env.PATH },
        extendEnv: false,
      });
      const times = [
        ...stdout.matchAll(/FcCacheTimeValid dir "(.*)" cache checksum (\S+) dir checksum (\S+)/g),
      ];
      expect(times.length).toBeGreaterThan(5);
      for (const [, folder, cached, found] of times) expect([folder, cached]).toEqual([folder, found]);
      expect(stdout).not.toContain("FcDirCacheWriteDir");
      expect(stdout).toContain("DejaVu Sans Mono");
    } finally {
      await root.release();
    }
  },
  IMAGE_TIMEOUT_MS,
);

test("an unknown recipe is refused before anything is made", async () => {
  await expect(buildImage("kde", { home })).rejects.toMatchObject({
    code: "UNKNOWN_IMAGE_RECIPE",
    exitCode: 2,
  });
  expect(await readdir(home.images)).toEqual([]);
});

test("an image's record lies beside it under the same name", () => {
  expect(recordPath("/a/openbox-12.qcow2")).toBe("/a/openbox-12.json");
  expect(recordPath("/a/b.d/disk")).toBe("/a/b.d/disk.json");
});

async function mountPoints(): Promise<string[]> {
  return parseMountinfo(await readFile("/proc/self/mountinfo", "utf8"))
    .map(({ mountPoint }) => mountPoint)
    .filter((path) => path.startsWith(home.path));
}
