import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { inspectImage, mountRoot } from "../../src/index.js";
import { toQcow2 } from "../helpers/disk.js";
import { MAKERS, type MadeKind, makeFilesystem, needsOf, withMounted } from "../helpers/filesystems.js";
import { leftOf, rootTree, sha256Of } from "../helpers/mounts.js";
import { stateFolder } from "../helpers/temp.js";

const NEEDS: readonly Need[] = ["fuse", "program:qemu-storage-daemon", "program:qemu-img"];
const KINDS = Object.keys(MAKERS) as MadeKind[];

for (const kind of KINDS)
  testNeeding(
    [...NEEDS, ...needsOf(kind)],
    `a ${kind} root is recognised and mounted, raw and in a qcow2, and its image stays as it was`,
    async () => {
      const stateDir = await stateFolder();
      const raw = join(stateDir, `${kind}.raw`);
      await makeFilesystem(kind, raw, await rootTree(stateDir));
      for (const image of [raw, await toQcow2(raw, ["-c"])]) {
        const { table } = await inspectImage(image);
        expect(table).toMatchObject({ kind: "none", partitions: [{ index: 0, filesystem: { kind } }] });
        const before = await sha256Of(image);
        const root = await mountRoot({ image, stateDir, holder: "one" });
        expect(root.partition).toMatchObject({ index: 0, filesystem: kind });
        expect(await readFile(join(root.path, "etc/hostname"), "utf8")).toBe("inside\n");
        await expect(writeFile(join(root.path, "etc/x"), "")).rejects.toMatchObject({ code: "EROFS" });
        await root.release();
        expect(await sha256Of(image)).toBe(before);
      }
      expect(await leftOf(stateDir)).toEqual([]);
    },
  );

for (const kind of ["xfs", "btrfs"] as const)
  testNeeding(
    [...NEEDS, ...needsOf(kind)],
    `a ${kind} that was not unmounted is mounted without a replay of its log, and stays as it was`,
    async () => {
      const stateDir = await stateFolder();
      const clean = join(stateDir, "clean.raw");
      const image = join(stateDir, "dirty.raw");
      await makeFilesystem(kind, clean, await rootTree(stateDir));
      await withMounted(kind, clean, async (folder) => {
        await writeFile(join(folder, "late"), "late", { flush: true });
        await copyFile(clean, image);
      });
      const before = await sha256Of(image);
      const root = await mountRoot({ image, stateDir, holder: "one" });
      expect(await readFile(join(root.path, "etc/hostname"), "utf8")).toBe("inside\n");
      expect(root.journalReplayed).toBe(false);
      await root.release();
      expect(await sha256Of(image)).toBe(before);
    },
  );
