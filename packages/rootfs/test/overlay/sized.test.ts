import { mkdtemp, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { readMountinfo } from "@drums/nsexec/proc";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { mountSizedFolder } from "../../src/index.js";

const SIZE = 24 << 20;
const NEEDS = ["root", "loop", "program:mke2fs"] as const;

let home: string;
let folder: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "drums-sized-"));
  folder = join(home, "stack");
});
afterEach(() => rm(home, { recursive: true, force: true }));

const mountAt = async (path: string) =>
  (await readMountinfo("self")).find(({ mountPoint }) => mountPoint === path);

describe("a folder with a size", () => {
  testNeeding(NEEDS, "is full at that size, and the disk around it is not", async () => {
    await mountSizedFolder(folder, { bytes: SIZE });
    try {
      const block = Buffer.alloc(1 << 20, 1);
      const file = await open(join(folder, "fill"), "w");
      let wrote = 0;
      const error: unknown = await (async () => {
        for (;;) wrote += (await file.write(block)).bytesWritten;
      })().catch((thrown: unknown) => thrown);
      await file.close();
      expect(error).toMatchObject({ code: "ENOSPC" });
      expect(wrote).toBeGreaterThan(SIZE / 2);
      expect(wrote).toBeLessThanOrEqual(SIZE);
      await writeFile(join(home, "beside"), block);
    } finally {
      sys.umount2(folder);
    }
  });

  testNeeding(
    NEEDS,
    "takes space only as it is written, and lets no device and no setuid file work",
    async () => {
      await mountSizedFolder(folder, { bytes: 4 * 2 ** 30 });
      try {
        const { blocks, mode } = await stat(`${folder}.img`);
        expect(blocks * 512).toBeLessThan(16 << 20);
        expect(mode & 0o777).toBe(0o600);
        expect((await mountAt(folder))?.options).toEqual(
          expect.arrayContaining(["nosuid", "nodev", "noatime"]),
        );
      } finally {
        sys.umount2(folder);
      }
    },
  );

  testNeeding(NEEDS, "gives its loop device back with its mount", async () => {
    await mountSizedFolder(folder, { bytes: SIZE });
    const device = (await mountAt(folder))?.source ?? "";
    expect(sys.loopStatus(device)).toMatchObject({ autoclear: true, readOnly: false });
    sys.umount2(folder);
    expect(sys.loopStatus(device)).toBeUndefined();
  });

  testNeeding(NEEDS, "is refused where it is too small, and where something is there already", async () => {
    await expect(mountSizedFolder(folder, { bytes: 1 << 20 })).rejects.toMatchObject({
      code: "SIZE_INVALID",
    });
    await expect(mountSizedFolder(folder, { bytes: Number.NaN })).rejects.toMatchObject({
      code: "SIZE_INVALID",
    });
    await writeFile(`${folder}.img`, "mine");
    await expect(mountSizedFolder(folder, { bytes: SIZE })).rejects.toMatchObject({
      code: "SIZED_FOLDER_FAILED",
      hint: expect.stringContaining("does not exist"),
    });
    expect(await readFile(`${folder}.img`, "utf8")).toBe("mine");
    expect(await readdir(home)).toEqual(["stack.img"]);
  });
});
