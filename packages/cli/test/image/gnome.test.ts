import { lstat, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mountRoot } from "@drums/rootfs";
import { expect } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { readImageRecord } from "../../src/image/index.js";
import { gnomeImage } from "../../src/recipes/images/gnome.js";
import { recipeHash } from "../../src/recipes/index.js";
import { testGnomeImage } from "../support/test-image.js";

const NEEDS: readonly Need[] = [
  ...(["root", "fuse", "loop"] as const),
  ...(["mmdebstrap", "qemu-img", "mke2fs", "qemu-storage-daemon"] as const).map(
    (name): Need => `program:${name}`,
  ),
];

testNeeding(
  NEEDS,
  "the gnome image has the desktop's programs, its settings compiled, the user's files owned by the user, and no Xvfb",
  async () => {
    const { path: image } = await testGnomeImage();
    const record = await readImageRecord(image);
    expect(record.recipe).toEqual({ name: "gnome", hash: recipeHash(gnomeImage) });
    const stateDir = await mkdtemp(join(tmpdir(), "drums-gnome-image-"));
    const root = await mountRoot({ image, stateDir, holder: "test" });
    try {
      const at = (path: string) => join(root.path, path);
      const programs = ["gnome-shell", "gnome-session", "soffice", "chromium", "nautilus", "gnome-terminal"];
      for (const name of [...programs, "gedit", "python3", "gjs", "ibus-daemon", "dbus-daemon"])
        await stat(at(`usr/bin/${name}`));
      for (const server of ["Xvfb", "Xorg"])
        await expect(lstat(at(`usr/bin/${server}`))).rejects.toMatchObject({ code: "ENOENT" });
      expect(await readFile(at("etc/dconf/db/local"), "latin1")).toMatch(/^GVariant/);
      const profile = at("home/user/.config/libreoffice/4/user/registrymodifications.xcu");
      for (const path of [profile, at("home/user/.config"), at("home/user/.config/libreoffice")])
        expect(await stat(path)).toMatchObject({ uid: 1000, gid: 1000 });
      for (const folder of gnomeImage.emptyFolders) expect((await stat(at(folder))).isDirectory()).toBe(true);
    } finally {
      await root.release();
      await rm(stateDir, { recursive: true, force: true });
    }
  },
  900_000,
);
