import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { expect, onTestFinished, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { freshUpper, overlayMountStep, overlayOptions } from "../../src/index.js";
import { temporaryFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

test("options name the layers from top to bottom, with index and nfs_export on", () => {
  expect(overlayOptions({ lowers: ["/top", "/bottom"], upper: "/u", work: "/w" })).toBe(
    "lowerdir=/top:/bottom,upperdir=/u,workdir=/w,index=on,nfs_export=on",
  );
  expect(overlayOptions({ lowers: ["/a", "/b"] })).toBe("lowerdir=/a:/b,index=on,nfs_export=on");
});

test("what overlayfs would split at is escaped", () => {
  const options = overlayOptions({ lowers: ["/a:b,c\\d"], upper: "/u,v:w", work: "/w\\x" });
  expect(options).toBe("lowerdir=/a\\:b\\,c\\\\d,upperdir=/u\\,v:w,workdir=/w\\\\x,index=on,nfs_export=on");
});

test("too long a string, too many layers, relative paths and half an upper are refused", async () => {
  const long = Array.from({ length: 40 }, (_, index) => `/${"x".repeat(100)}${index}`);
  expect(
    (await failure(() => overlayOptions({ lowers: long }), "OVERLAY_TOO_LONG")).facts.bytes,
  ).toBeGreaterThan(4095);
  const many = Array.from({ length: 501 }, () => "/x");
  await failure(() => overlayOptions({ lowers: many }), "OVERLAY_TOO_MANY_LAYERS");
  await failure(() => overlayOptions({ lowers: ["relative"] }), "BAD_PATH");
  await failure(() => overlayOptions({ lowers: ["/x"], upper: "/u" }), "BAD_PATH");
  await failure(() => overlayOptions({ lowers: [] }), "BAD_PATH");
});

testNeeding(
  ["root"],
  "the kernel takes paths with commas, colons, backslashes and spaces as they are meant",
  async () => {
    const folder = await temporaryFolder();
    for (const name of ["a,b", "a:b", "a\\b", "a b", "a\\,b:c\\:d"]) {
      const base = join(folder, name);
      const lowers = ["one", "two"].map((layer) => join(base, `${layer}:,\\x`));
      for (const [index, lower] of lowers.entries()) {
        await mkdir(lower, { recursive: true });
        await writeFile(join(lower, `file${index}`), name);
      }
      const { upper, work } = await freshUpper(join(base, "up,per:\\"));
      const target = join(base, "target");
      await mkdir(target);
      const step = overlayMountStep({ lowers, upper, work, target });
      sys.mount(step.target, { source: step.source, fsType: step.fsType, data: step.data });
      onTestFinished(() => sys.umount2(target, sys.MNT.DETACH));
      expect(await readFile(join(target, "file0"), "utf8")).toBe(name);
      expect(await readFile(join(target, "file1"), "utf8")).toBe(name);
      await writeFile(join(target, "new"), "written");
      expect(await readFile(join(upper, "new"), "utf8")).toBe("written");
    }
  },
);
