import { chmod, link, mkdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { digestLayer } from "../../src/index.js";
import { temporaryFolder } from "../helpers/temp.js";

testNeeding(
  ["root"],
  "a layer's digest changes with content, mode, link, name, hard link and attribute, not with times",
  async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "sub"));
    await writeFile(join(folder, "sub/file"), "content");
    await symlink("file", join(folder, "sub/link"));
    const file = join(folder, "sub/file");
    const seen = new Set([await digestLayer(folder)]);
    await utimes(file, 1, 1);
    expect(seen).toContain(await digestLayer(folder));
    const changes = [
      () => writeFile(file, "CONTENT"),
      () => chmod(file, 0o600),
      () => rm(join(folder, "sub/link")).then(() => symlink("other", join(folder, "sub/link"))),
      () => rename(join(folder, "sub/link"), join(folder, "sub/renamed")),
      () => writeFile(join(folder, "twin"), "CONTENT", { mode: 0o600 }),
      () => rm(join(folder, "twin")).then(() => link(file, join(folder, "twin"))),
      async () => sys.lsetxattr(file, "user.note", Buffer.from("x")),
      async () => sys.lsetxattr(join(folder, "sub"), "trusted.overlay.opaque", Buffer.from("y")),
    ];
    for (const [index, change] of changes.entries()) {
      await change();
      const digest = await digestLayer(folder);
      expect(seen, `change ${index}`).not.toContain(digest);
      seen.add(digest);
    }
  },
);

testNeeding(["root"], "names that are no UTF-8, or hold line feeds, are told apart", async () => {
  const folder = await temporaryFolder();
  const place = (name: Buffer) => Buffer.concat([Buffer.from(`${folder}/`), name]);
  await writeFile(place(Buffer.from([0x61, 0xff])), "x");
  const first = await digestLayer(folder);
  await rename(place(Buffer.from([0x61, 0xff])), place(Buffer.from([0x61, 0xfe])));
  const second = await digestLayer(folder);
  await rename(place(Buffer.from([0x61, 0xfe])), place(Buffer.from("a\nb")));
  expect(new Set([first, second, await digestLayer(folder)]).size).toBe(3);
});
