import { mkdir, open, readdir, readFile, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { execa } from "execa";
import { expect, onTestFinished } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { copyUpper, freshUpper, measureUpper, mountOverlay } from "../../src/index.js";
import { mountedFilesystem, needsOf } from "../helpers/filesystems.js";
import { temporaryFolder } from "../helpers/temp.js";

const MIB = 1 << 20;

for (const kind of ["xfs", "btrfs"] as const)
  testNeeding(
    needsOf(kind),
    `on ${kind} a copy of an upper shares its data with it, and is another one all the same`,
    async () => {
      const place = await mountedFilesystem(kind, await temporaryFolder());
      const { upper } = await freshUpper(place);
      await writeFile(join(upper, "big"), Buffer.alloc(32 * MIB, 1), { flush: true });
      const before = await statfs(place);
      const copy = join(place, "copy");
      expect(await copyUpper(upper, copy)).toMatchObject({ reflink: true, files: 1 });
      await sync(join(copy, "big"));
      const after = await statfs(place);
      expect((before.bfree - after.bfree) * before.bsize).toBeLessThan(8 * MIB);
      await writeFile(join(upper, "big"), "changed", { flag: "r+" });
      expect((await readFile(join(copy, "big"))).subarray(0, 7)).toEqual(Buffer.alloc(7, 1));
    },
  );

testNeeding(["root"], "between file systems, and on one that cannot share, a copy is a copy", async () => {
  const folder = await temporaryFolder();
  const place = await mountedFilesystem("tmpfs", folder);
  const { upper } = await freshUpper(place);
  await writeFile(join(upper, "file"), "content");
  expect(await copyUpper(upper, join(place, "beside"))).toMatchObject({ reflink: false, files: 1 });
  expect(await copyUpper(upper, join(folder, "elsewhere"))).toMatchObject({ reflink: false, files: 1 });
  expect(await readFile(join(folder, "elsewhere/file"), "utf8")).toBe("content");
});

testNeeding(
  ["root"],
  "an upper on a tmpfs is used like one on disk, and its copy on disk is the same layer",
  async () => {
    const folder = await temporaryFolder();
    const place = await mountedFilesystem("tmpfs", folder);
    const [lower, target] = [join(folder, "lower"), join(folder, "target")];
    for (const path of [join(lower, "opaque"), target]) await mkdir(path, { recursive: true });
    await writeFile(join(lower, "opaque/old"), "old");
    await writeFile(join(lower, "gone"), "gone");
    const stack = await freshUpper(place);
    expect(await mountOverlay({ lowers: [lower], target, ...stack })).toMatchObject({ ok: true });
    onTestFinished(() => sys.umount2(target, sys.MNT.DETACH));
    await execa("sh", ["-c", "rm -r opaque gone && mkdir opaque && echo new >opaque/new"], { cwd: target });
    const copy = join(folder, "copy");
    await copyUpper(stack.upper, copy);
    sys.umount2(target, 0);
    await mountOverlay({ lowers: [copy, lower], target, ...(await freshUpper(join(folder, "sibling"))) });
    expect(await readdir(target)).toEqual(["opaque"]);
    expect(await readdir(join(target, "opaque"))).toEqual(["new"]);
  },
);

testNeeding(["root"], "an upper's size is what du counts, holes and second names left out", async () => {
  const { upper } = await freshUpper(await temporaryFolder());
  const script = `mkdir -p a/b && head -c 300000 /dev/urandom >a/b/file && ln a/b/file second
    truncate -s 64M hole && head -c 5000 /dev/zero >hole && ln -s a/b link && mknod gone c 0 0`;
  await execa("sh", ["-ec", script], { cwd: upper });
  const { bytes, files } = await measureUpper(upper);
  const du = Number((await execa("du", ["-sB1", upper])).stdout.split("\t")[0]);
  const own = Number(
    (await execa("du", ["-sB1", "--max-depth=0", "--separate-dirs", await emptyFolder()])).stdout.split(
      "\t",
    )[0],
  );
  // du counts the upper's own folder; what is in it is measured.
  expect(bytes).toBe(du - own);
  expect(files).toBe((await execa("find", [upper, "-mindepth", "1"])).stdout.split("\n").length);
});

async function emptyFolder(): Promise<string> {
  return (await freshUpper(await temporaryFolder())).upper;
}

async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  await file.sync();
  await file.close();
}
