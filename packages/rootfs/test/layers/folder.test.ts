import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { folderLayer } from "../../src/index.js";
import { temporaryFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

testNeeding(
  ["root"],
  "a layer holds what it was given: copies, content, links, folders, with modes and owners",
  async () => {
    const folder = await temporaryFolder();
    const program = join(folder, "program");
    await writeFile(program, "elf");
    await chmod(program, 0o755);
    const tree = join(folder, "tree");
    await mkdir(join(tree, "sub"), { recursive: true });
    await writeFile(join(tree, "sub/file"), "deep");
    const target = join(folder, "layer");
    const layer = await folderLayer({
      target,
      entries: [
        { path: "/usr/lib/drums/drums-init", source: program },
        { path: "/etc/motd", content: "hello\n", mode: 0o600, uid: 1000, gid: 1001 },
        { path: "/etc/link", link: "/nowhere/at/all" },
        { path: "/var/lib/drums", uid: 1000 },
        { path: "/opt/tree", source: tree },
      ],
    });
    expect(layer.files).toBe(14);
    expect((await stat(join(target, "usr/lib/drums/drums-init"))).mode & 0o7777).toBe(0o755);
    const motd = await stat(join(target, "etc/motd"));
    expect([motd.mode & 0o7777, motd.uid, motd.gid]).toEqual([0o600, 1000, 1001]);
    expect(await readlink(join(target, "etc/link"))).toBe("/nowhere/at/all");
    expect(await stat(join(target, "var/lib/drums"))).toMatchObject({ uid: 1000 });
    expect(await readFile(join(target, "opt/tree/sub/file"), "utf8")).toBe("deep");
  },
);

testNeeding(
  ["root"],
  "a layer's entries follow the root's own links, and never leave the layer",
  async () => {
    const folder = await temporaryFolder();
    const root = join(folder, "root");
    await mkdir(join(root, "usr/lib"), { recursive: true });
    await symlink("usr/lib", join(root, "lib"));
    await folderLayer({ target: join(folder, "layer"), root, entries: [{ path: "/lib/x", content: "x" }] });
    expect(await readFile(join(folder, "layer/usr/lib/x"), "utf8")).toBe("x");
    const entries = [
      { path: "/out", link: "/tmp" },
      { path: "/out/evil", content: "x" },
    ];
    await failure(() => folderLayer({ target: join(folder, "bad"), entries }), "LAYER_UNSAFE");
    await failure(
      () => folderLayer({ target: join(folder, "bad"), entries: [{ path: "/../x", content: "x" }] }),
      "LAYER_UNSAFE",
    );
    const missing = [{ path: "/x", source: join(folder, "none") }];
    const error = await failure(
      () => folderLayer({ target: join(folder, "bad"), entries: missing }),
      "LAYER_UNSAFE",
    );
    expect(error.hint).toContain("does not exist");
    expect((await readdir(folder)).sort()).toEqual(["layer", "root"]);
  },
);
