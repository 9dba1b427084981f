import { chown, link, mkdir, open, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { execa } from "execa";
import { expect, onTestFinished, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { copyUpper, freshUpper, measureUpper, overlayOptions } from "../../src/index.js";
import { temporaryFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

function mountOverlay(target: string, paths: Parameters<typeof overlayOptions>[0]): void {
  sys.mount(target, { source: "overlay", fsType: "overlay", data: overlayOptions(paths) });
  onTestFinished(() => {
    try {
      sys.umount2(target, sys.MNT.DETACH);
    } catch {
      // unmounted by the test
    }
  });
}

async function lowerLayer(folder: string): Promise<string> {
  const lower = join(folder, "lower");
  await mkdir(join(lower, "opaque"), { recursive: true });
  await writeFile(join(lower, "opaque/old"), "old");
  await writeFile(join(lower, "gone"), "gone");
  await writeFile(join(lower, "changed"), "before");
  return lower;
}

/** What a session does to its upper: deletes, replaces a folder, links, holes, capabilities, owners. */
async function useOverlay(target: string): Promise<void> {
  await rm(join(target, "gone"));
  await rm(join(target, "opaque"), { recursive: true });
  await mkdir(join(target, "opaque"));
  await writeFile(join(target, "opaque/new"), "new");
  await writeFile(join(target, "changed"), "after");
  await writeFile(join(target, "first"), "linked");
  await link(join(target, "first"), join(target, "second"));
  await symlink("/etc/passwd", join(target, "link"));
  await writeFile(join(target, "capable"), "#!/bin/sh\n", { mode: 0o4755 });
  await execa("setcap", ["cap_net_raw+ep", join(target, "capable")]);
  await chown(join(target, "first"), 101000, 101000);
  sys.lsetxattr(join(target, "first"), "user.note", Buffer.from("kept"));
  const sparse = await open(join(target, "sparse"), "w");
  await sparse.truncate(64 << 20);
  await sparse.write("end", (64 << 20) - 3);
  await sparse.close();
}

testNeeding(
  ["root", "program:setcap"],
  "a copied upper is the same layer: whiteouts, opaque folders, hard links, capabilities, attributes, holes",
  async () => {
    const folder = await temporaryFolder();
    const lower = await lowerLayer(folder);
    const { upper, work } = await freshUpper(join(folder, "session"));
    const target = join(folder, "target");
    await mkdir(target);
    mountOverlay(target, { lowers: [lower], upper, work });
    await useOverlay(target);
    const copy = join(folder, "copy");
    const result = await copyUpper(upper, copy);
    expect(result.bytes).toBeLessThan(1 << 20);
    expect(result.files).toBe((await readdir(upper, { recursive: true })).length);
    sys.umount2(target, 0);

    // As a lower layer, the way a checkpoint uses it.
    const fresh = await freshUpper(join(folder, "sibling"));
    mountOverlay(target, { lowers: [copy, lower], ...fresh });
    expect((await readdir(target)).sort()).toEqual([
      "capable",
      "changed",
      "first",
      "link",
      "opaque",
      "second",
      "sparse",
    ]);
    expect(await readdir(join(target, "opaque"))).toEqual(["new"]);
    expect(await readFile(join(target, "changed"), "utf8")).toBe("after");
    const [first, second] = await Promise.all(["first", "second"].map((name) => stat(join(copy, name))));
    expect(first).toMatchObject({ uid: 101000, gid: 101000, ino: second?.ino, nlink: 2 });
    expect(sys.lgetxattr(join(copy, "first"), "user.note").toString()).toBe("kept");
    expect((await stat(join(copy, "capable"))).mode & 0o7777).toBe(0o4755);
    expect((await execa("getcap", [join(target, "capable")])).stdout).toContain("cap_net_raw=ep");
    expect(sys.lgetxattr(join(copy, "opaque"), "trusted.overlay.opaque").toString()).toBe("y");
    expect((await stat(join(copy, "gone"))).isCharacterDevice()).toBe(true);
    expect((await stat(join(copy, "sparse"))).blocks * 512).toBeLessThan(1 << 20);
  },
);

testNeeding(["root"], "a full disk is an error that says so, and nothing of the copy stays", async () => {
  const folder = await temporaryFolder();
  const { upper } = await freshUpper(folder);
  await writeFile(join(upper, "big"), Buffer.alloc(4 << 20, 1));
  const small = join(folder, "small");
  await mkdir(small);
  sys.mount(small, { source: "tmpfs", fsType: "tmpfs", data: "size=1m" });
  onTestFinished(() => sys.umount2(small, sys.MNT.DETACH));
  const error = await failure(() => copyUpper(upper, join(small, "copy")), "COPY_FAILED");
  expect(error.hint).toContain("disk is full");
  expect(await readdir(small)).toEqual([]);
});

test("a fresh upper is empty, is never an old one, and an existing copy is not overwritten", async () => {
  const folder = await temporaryFolder();
  const made = await freshUpper(folder);
  expect(await readdir(made.upper)).toEqual([]);
  expect((await stat(made.upper)).mode & 0o7777).toBe(0o755);
  await failure(() => freshUpper(folder), "UPPER_EXISTS");
  await failure(() => copyUpper(made.upper, made.work), "UPPER_EXISTS");
});

testNeeding(["root"], "a fresh upper belongs to the session's root", async () => {
  const folder = await temporaryFolder();
  const { upper, work } = await freshUpper(folder, { owner: { uid: 200000, gid: 200001 } });
  for (const path of [upper, work]) expect(await stat(path)).toMatchObject({ uid: 200000, gid: 200001 });
});

test("a file with two names is measured once", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "a"), Buffer.alloc(8192, 1));
  await link(join(folder, "a"), join(folder, "b"));
  expect(await measureUpper(folder)).toEqual({ bytes: 8192, files: 2 });
});
