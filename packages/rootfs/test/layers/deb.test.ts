import { lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { digestLayer, unpackDebLayer } from "../../src/index.js";
import { type Member, makeDeb } from "../helpers/deb.js";
import { temporaryFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

const NEEDS = ["root", "program:dpkg-deb"] as const;

const folderMember = (name: string): Member => ({ name, type: "5", mode: 0o755 });

/** A root with a merged /usr, and with /var/run as a link. */
async function mergedRoot(folder: string): Promise<string> {
  const root = join(folder, "root");
  for (const path of ["usr/lib", "usr/bin", "usr/sbin", "run", "var", "opt"])
    await mkdir(join(root, path), { recursive: true });
  await mkdir(join(root, "srv/private"), { recursive: true, mode: 0o750 });
  for (const name of ["lib", "bin", "sbin"]) await symlink(`usr/${name}`, join(root, name));
  await symlink("/run", join(root, "var/run"));
  return root;
}

testNeeding(
  NEEDS,
  "files, folders, links, hard links, modes, owners and times are those of the package",
  async () => {
    const folder = await temporaryFolder();
    const long = `./usr/share/${"deep/".repeat(30)}file`;
    const deb = await makeDeb(folder, "good", [
      folderMember("./"),
      folderMember("./usr/"),
      folderMember("./usr/bin/"),
      { name: "./usr/bin/tool", content: "#!/bin/sh\n", mode: 0o4755 },
      { name: "./usr/bin/same", type: "1", linkName: "./usr/bin/tool" },
      { name: "./usr/bin/link", type: "2", linkName: "/etc/alternatives/tool" },
      { name: "./usr/mail", content: "x", mode: 0o640, uid: 8 },
      { name: long, content: "long" },
    ]);
    const target = join(folder, "layer");
    const layer = await unpackDebLayer({ debs: [deb], target });
    expect(layer).toMatchObject({ path: target, digest: await digestLayer(target) });
    expect(layer.files).toBe((await readdir(target, { recursive: true })).length);
    const tool = await stat(join(target, "usr/bin/tool"));
    expect(tool).toMatchObject({
      nlink: 2,
      ino: (await stat(join(target, "usr/bin/same"))).ino,
      mtimeMs: 1_700_000_000_000,
    });
    expect(tool.mode & 0o7777).toBe(0o4755);
    expect(await readlink(join(target, "usr/bin/link"))).toBe("/etc/alternatives/tool");
    expect(await stat(join(target, "usr/mail"))).toMatchObject({ uid: 8, gid: 8 });
    expect(await readFile(join(target, long), "utf8")).toBe("long");
    expect((await stat(join(target, "usr/bin"))).mtimeMs).toBe(1_700_000_000_000);
    expect((await readdir(folder)).sort()).toEqual(["good.deb", "layer"]);
  },
);

testNeeding(
  NEEDS,
  "where the root has a link in place of a folder, the package's files go where it leads",
  async () => {
    const folder = await temporaryFolder();
    const root = await mergedRoot(folder);
    const deb = await makeDeb(folder, "split", [
      folderMember("./lib/"),
      folderMember("./lib/x86_64-linux-gnu/"),
      { name: "./lib/x86_64-linux-gnu/libold.so.1", content: "elf" },
      { name: "./bin/old", content: "#!", mode: 0o755 },
      { name: "./sbin/again", type: "1", linkName: "./bin/old" },
      folderMember("./var/run/"),
      { name: "./var/run/old.conf", content: "c" },
      { name: "./srv/private/file", content: "p" },
    ]);
    const target = join(folder, "layer");
    await unpackDebLayer({ debs: [deb], target, root });
    expect((await readdir(target)).sort()).toEqual(["run", "srv", "usr"]);
    expect(await readFile(join(target, "usr/lib/x86_64-linux-gnu/libold.so.1"), "utf8")).toBe("elf");
    expect(await readFile(join(target, "usr/sbin/again"), "utf8")).toBe("#!");
    expect(await readFile(join(target, "run/old.conf"), "utf8")).toBe("c");
    // A folder made on the way has the mode that the root has there.
    expect((await stat(join(target, "srv/private"))).mode & 0o7777).toBe(0o750);
    const plain = join(folder, "plain");
    await unpackDebLayer({ debs: [deb], target: plain });
    expect((await readdir(plain)).sort()).toEqual(["bin", "lib", "sbin", "srv", "var"]);
  },
);

const HOSTILE: Readonly<Record<string, readonly Member[]>> = {
  "an absolute name": [{ name: "/etc/cron.d/evil", content: "x" }],
  "a name with ..": [{ name: "./usr/../../../evil", content: "x" }],
  "a long name with ..": [{ name: `./${"a/".repeat(60)}../../evil`, content: "x" }],
  "a character device": [{ name: "./dev/kmem", type: "3" }],
  "a block device": [{ name: "./dev/sda", type: "4" }],
  "a FIFO": [{ name: "./run/pipe", type: "6" }],
  "a way through its own link": [
    { name: "./out", type: "2", linkName: "/tmp" },
    { name: "./out/evil", content: "x" },
  ],
  "a folder over its own link": [
    { name: "./out", type: "2", linkName: "/tmp" },
    { name: "./out/", type: "5" },
  ],
  "a hard link to the outside": [{ name: "./passwd", type: "1", linkName: "/etc/passwd" }],
  "a hard link upwards": [{ name: "./passwd", type: "1", linkName: "../../../etc/passwd" }],
  "a hard link to what is not there": [{ name: "./passwd", type: "1", linkName: "./etc/passwd" }],
  "a hard link to a link": [
    { name: "./link", type: "2", linkName: "/etc/passwd" },
    { name: "./hard", type: "1", linkName: "./link" },
  ],
  "the same file twice": [
    { name: "./a", content: "1" },
    { name: "./a", content: "2" },
  ],
};

for (const [what, members] of Object.entries(HOSTILE))
  testNeeding(NEEDS, `a package with ${what} is refused, and nothing of it stays`, async () => {
    const folder = await temporaryFolder();
    const deb = await makeDeb(folder, "hostile", members);
    await failure(() => unpackDebLayer({ debs: [deb], target: join(folder, "layer") }), "DEB_UNSAFE");
    expect(await readdir(folder)).toEqual(["hostile.deb"]);
  });

testNeeding(
  NEEDS,
  "a package whose sha256 is not the pinned one is refused before it is unpacked",
  async () => {
    const folder = await temporaryFolder();
    const deb = await makeDeb(folder, "pinned", [{ name: "./a", content: "1" }]);
    const debs = [{ ...deb, sha256: "0".repeat(64) }];
    const error = await failure(
      () => unpackDebLayer({ debs, target: join(folder, "layer") }),
      "DEB_DIGEST_MISMATCH",
    );
    expect(error.facts).toMatchObject({ found: deb.sha256 });
    expect(await readdir(folder)).toEqual(["pinned.deb"]);
  },
);

testNeeding(NEEDS, "what is no package, or half of one, or missing, is said to be unreadable", async () => {
  const folder = await temporaryFolder();
  const deb = await makeDeb(folder, "cut", [{ name: "./a", content: "1".repeat(100_000) }]);
  await writeFile(deb.path, (await readFile(deb.path)).subarray(0, 400));
  const target = join(folder, "layer");
  const sha256 = (await import("node:crypto"))
    .createHash("sha256")
    .update(await readFile(deb.path))
    .digest("hex");
  await failure(() => unpackDebLayer({ debs: [{ ...deb, sha256 }], target }), "DEB_UNREADABLE");
  await failure(
    () => unpackDebLayer({ debs: [{ ...deb, path: join(folder, "none") }], target }),
    "DEB_UNREADABLE",
  );
  await expect(lstat(target)).rejects.toThrow("ENOENT");
});

testNeeding(
  NEEDS,
  "the digest is the same for the same packages, and another for one changed mode",
  async () => {
    const folder = await temporaryFolder();
    const member = { name: "./usr/bin/tool", content: "x", mode: 0o755 };
    const debs = [
      await makeDeb(folder, "one", [member]),
      await makeDeb(folder, "two", [{ name: "./usr/two", content: "2" }]),
    ];
    const first = await unpackDebLayer({ debs, target: join(folder, "first") });
    const second = await unpackDebLayer({ debs, target: join(folder, "second") });
    expect(second.digest).toBe(first.digest);
    const other = [
      await makeDeb(folder, "three", [{ ...member, mode: 0o750 }]),
      debs[1] ?? debs[0],
    ] as typeof debs;
    expect((await unpackDebLayer({ debs: other, target: join(folder, "third") })).digest).not.toBe(
      first.digest,
    );
    await failure(() => unpackDebLayer({ debs, target: join(folder, "first") }), "LAYER_EXISTS");
  },
);
