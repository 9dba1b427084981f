import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { collectRoots, mountRoot, type RootSystem, realSystem } from "../../src/index.js";
import { leftOf, rootTree, sha256Of } from "../helpers/mounts.js";
import { stateFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

const NEEDS = ["root", "loop", "program:mkfs.erofs"] as const;

async function erofsImage(stateDir: string): Promise<string> {
  const image = join(stateDir, "root.erofs");
  await execa("mkfs.erofs", ["--quiet", image, await rootTree(stateDir)]);
  return image;
}

/** A kernel that wants a block device, as before 6.12. */
const blockOnly: RootSystem = {
  ...realSystem,
  mount: async (target, options) => {
    if (options.fsType === "erofs" && !options.source?.startsWith("/dev/"))
      throw Object.assign(new Error("mount: ENOTBLK"), { code: "ENOTBLK" });
    await realSystem.mount(target, options);
  },
};

testNeeding(
  NEEDS,
  "an erofs image is mounted from its own file, or by a loop device where the kernel is older",
  async () => {
    const stateDir = await stateFolder();
    const image = await erofsImage(stateDir);
    const before = await sha256Of(image);
    for (const system of [realSystem, blockOnly]) {
      const root = await mountRoot({ image, stateDir, holder: "one", system });
      const passed = root.passedOver.map(({ way }) => way);
      expect([root.way, passed]).toEqual(
        passed.includes("erofs-file") ? ["raw-loop", ["folder", "erofs-file"]] : ["erofs-file", ["folder"]],
      );
      if (system === blockOnly) expect(root.passedOver[1]?.reason).toContain("block devices only");
      expect(root.partition).toMatchObject({ index: 0, filesystem: "erofs" });
      expect(await readFile(join(root.path, "etc/hostname"), "utf8")).toBe("inside\n");
      await expect(writeFile(join(root.path, "x"), "")).rejects.toMatchObject({ code: "EROFS" });
      await root.release();
      expect(await leftOf(stateDir)).toEqual([]);
    }
    expect(await sha256Of(image)).toBe(before);
  },
);

testNeeding(NEEDS, "forced, it fails with its reason; a dead owner's is collected", async () => {
  const stateDir = await stateFolder();
  const image = await erofsImage(stateDir);
  await failure(
    () => mountRoot({ image, stateDir, holder: "one", way: "erofs-file", system: blockOnly }),
    "NO_WAY",
  );
  expect(await leftOf(stateDir)).toEqual([]);
  const { id } = await mountRoot({ image, stateDir, holder: "dead" });
  expect((await collectRoots({ stateDir, liveHolders: [] })).removed).toMatchObject([{ id }]);
  expect(await leftOf(stateDir)).toEqual([]);
});
