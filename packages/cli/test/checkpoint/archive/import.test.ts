import { createHash } from "node:crypto";
import { chown, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digestLayer } from "@drums/rootfs";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { testNeeding } from "../../../../../tools/testing/needs.js";
import { exportCheckpoint } from "../../../src/checkpoint/archive/export.js";
import { MAGIC } from "../../../src/checkpoint/archive/format.js";
import { importCheckpoint } from "../../../src/checkpoint/archive/import.js";
import { openCheckpoint } from "../../../src/checkpoint/load.js";
import { createHome, type Home, homeAt } from "../../../src/home.js";
import { fakeCheckpoint } from "../../support/fake-checkpoint.js";

let folder: string;
let home: Home;
let other: Home;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drums-import-"));
  home = await createHome(homeAt(join(folder, "one")));
  other = await createHome(homeAt(join(folder, "other")));
  file = join(folder, "c.drums");
});
afterEach(() => rm(folder, { recursive: true }));

async function exported(): Promise<Buffer> {
  await fakeCheckpoint(home, "c");
  await exportCheckpoint(home, { checkpoint: "c", file });
  return readFile(file);
}

/** Imports what must be refused, and shows that nothing of it is left. */
async function refused(bytes: Buffer): Promise<unknown> {
  await writeFile(file, bytes);
  const reason = await importCheckpoint(other, { file, image: join(home.images, "disk.raw") }).then(
    () => Promise.reject(new Error("the import was not refused")),
    (error: unknown) => error,
  );
  expect(await readdir(other.checkpoints)).toEqual([]);
  return reason;
}

testNeeding(
  ["root"],
  "a checkpoint goes into another home under another name, with all its layers",
  async () => {
    await fakeCheckpoint(home, "c");
    const report = await exportCheckpoint(home, { checkpoint: "c", file });
    expect(report).toMatchObject({ file, layers: 2 });
    expect(await readdir(folder)).toEqual(["c.drums", "one", "other"]);
    const image = join(home.images, "disk.raw");
    expect(await importCheckpoint(other, { file, name: "d", image })).toEqual({
      name: "d",
      path: join(other.checkpoints, "d"),
      image,
    });
    const { spec, manifest } = await openCheckpoint(other, "d");
    expect(spec.layers.map(({ path }) => path)).toEqual([
      join(other.checkpoints, "d", "upper"),
      join(other.checkpoints, "d", "layers", "1"),
    ]);
    expect(await readFile(join(spec.layers[0]?.path ?? "", "marker"), "utf8")).toBe("c");
    expect(manifest.layers.map(({ name }) => name)).toEqual(["checkpoint:upper", "checkpoint:layers/1"]);

    const moved = join(other.checkpoints, "e");
    await rename(join(other.checkpoints, "d"), moved);
    expect((await openCheckpoint(other, "e")).spec.layers[0]?.path).toBe(join(moved, "upper"));
  },
);

testNeeding(["root", "program:zstd"], "a packed archive is smaller and is unpacked by itself", async () => {
  const plain = (await exported()).length;
  const { bytes } = await exportCheckpoint(home, { checkpoint: "c", file }, { zstd: true });
  expect(bytes).toBeLessThan(plain);
  const { image } = await importCheckpoint(other, { file, image: join(home.images, "disk.raw") });
  expect(image).toBe(join(home.images, "disk.raw"));
  const packed = await readFile(file);
  await writeFile(file, packed.subarray(0, -20));
  await expect(importCheckpoint(other, { file, name: "second" })).rejects.toMatchObject({
    code: "ARCHIVE_INVALID",
  });
  expect(await readdir(other.checkpoints)).toEqual(["c"]);
});

testNeeding(["root"], "a name that is taken, and an image that is another, are refused", async () => {
  await exported();
  const image = join(home.images, "disk.raw");
  await importCheckpoint(other, { file, image });
  await expect(importCheckpoint(other, { file, image })).rejects.toMatchObject({ code: "CHECKPOINT_EXISTS" });
  const wrong = join(folder, "wrong.raw");
  await writeFile(wrong, "another disk");
  await expect(importCheckpoint(other, { file, name: "d", image: wrong })).rejects.toMatchObject({
    code: "IMAGE_DIGEST_MISMATCH",
  });
  await rm(image);
  await expect(importCheckpoint(other, { file, name: "d" })).rejects.toMatchObject({ code: "IMAGE_MISSING" });
  expect(await readdir(other.checkpoints)).toEqual(["c"]);
});

testNeeding(
  ["root"],
  "a layer that changed since the checkpoint is not exported, and no file is left",
  async () => {
    const { upper } = await fakeCheckpoint(home, "c");
    await writeFile(join(upper, "marker"), "changed");
    await expect(exportCheckpoint(home, { checkpoint: "c", file })).rejects.toMatchObject({
      code: "LAYER_CHANGED",
    });
    expect(await readdir(folder)).toEqual(["one", "other"]);
  },
);

testNeeding(["root"], "an export that cannot be written says why and leaves no file", async () => {
  await fakeCheckpoint(home, "c");
  const nowhere = join(folder, "no", "such.drums");
  await expect(exportCheckpoint(home, { checkpoint: "c", file: nowhere })).rejects.toMatchObject({
    code: "EXPORT_FAILED",
    why: expect.stringContaining("ENOENT"),
  });
});

describe("a file that is not what was exported leaves nothing", () => {
  testNeeding(["root"], "cut anywhere", async () => {
    const whole = await exported();
    for (let length = 0; length < whole.length; length += 97)
      expect(await refused(whole.subarray(0, length))).toMatchObject({ code: "ARCHIVE_INVALID" });
  });

  testNeeding(["root"], "one bit changed anywhere", async () => {
    const whole = await exported();
    for (let at = 0; at < whole.length; at += 61) {
      const damaged = Buffer.from(whole);
      damaged.writeUInt8((damaged[at] ?? 0) ^ 1, at);
      expect(await refused(damaged)).toMatchObject({
        code: expect.stringMatching(/^(ARCHIVE_INVALID|MANIFEST_INVALID)$/),
      });
    }
  });

  testNeeding(["root"], "something behind its end, or something else altogether", async () => {
    const whole = await exported();
    expect(await refused(Buffer.concat([whole, Buffer.from("x")]))).toMatchObject({
      code: "ARCHIVE_INVALID",
    });
    expect(await refused(Buffer.from("PK\u0003\u0004"))).toMatchObject({ code: "ARCHIVE_INVALID" });
    expect(await refused(Buffer.alloc(0))).toMatchObject({ code: "ARCHIVE_INVALID" });
  });
});

describe("a hostile file leaves nothing", () => {
  const plain = { mode: 0o755, uid: 0, gid: 0, mtimeMs: 0, xattrs: {} };
  const CASES: readonly [string, RegExp, readonly unknown[]][] = [
    ["a path that climbs", /no plain relative path/, [{ kind: "folder", path: "layer-0/../../x", ...plain }]],
    ["an absolute path", /no plain relative path/, [{ kind: "folder", path: "/etc", ...plain }]],
    ["a place that no checkpoint has", /has no place/, [{ kind: "folder", path: "etc", ...plain }]],
    [
      "a layer that the manifest does not name",
      /has no place/,
      [{ kind: "folder", path: "layer-7", ...plain }],
    ],
    [
      "a file through a link",
      /has not come before/,
      [
        { kind: "folder", path: "layer-0", ...plain },
        { kind: "symlink", path: "layer-0/l", target: "/etc", ...plain },
        { kind: "fifo", path: "layer-0/l/passwd", ...plain },
      ],
    ],
    [
      "a link over a folder",
      /comes twice/,
      [
        { kind: "folder", path: "layer-0", ...plain },
        { kind: "folder", path: "layer-0/d", ...plain },
        { kind: "symlink", path: "layer-0/d", target: "/etc", ...plain },
      ],
    ],
    [
      "a hard link to a symlink",
      /has not come before/,
      [
        { kind: "folder", path: "layer-0", ...plain },
        { kind: "symlink", path: "layer-0/l", target: "/etc/shadow", ...plain },
        { kind: "link", path: "layer-0/h", to: "layer-0/l" },
      ],
    ],
    [
      "an owner outside of its range",
      /outside of its range/,
      [{ kind: "folder", path: "layer-0", ...plain, uid: 70_000 }],
    ],
    [
      "an attribute of the host's own security",
      /no import sets/,
      [{ kind: "folder", path: "layer-0", ...plain, xattrs: { "security.selinux": "eA==" } }],
    ],
    [
      "a file whose data lie in another (metacopy)",
      /no import sets/,
      [{ kind: "folder", path: "layer-0", ...plain, xattrs: { "trusted.overlay.metacopy": "" } }],
    ],
    ["a device", /not of its form/, [{ kind: "device", path: "layer-0/d", ...plain, rdev: 5 }]],
    [
      "a file beyond all bounds",
      /more than is allowed/,
      [{ kind: "file", path: "images/pages-1.img", ...plain, size: 2 ** 50 }],
    ],
  ];
  for (const [what, why, entries] of CASES)
    testNeeding(["root"], what, async () => {
      const manifest = await readFile(join((await fakeCheckpoint(home, "c")).path, "checkpoint.json"));
      const first = { kind: "file", path: "checkpoint.json", ...plain, size: manifest.length };
      const bytes = Buffer.concat([MAGIC, entry(first, manifest), ...entries.map((header) => entry(header))]);
      expect(await refused(bytes)).toMatchObject({
        code: "ARCHIVE_INVALID",
        why: expect.stringMatching(why),
      });
      expect(await readdir("/etc")).not.toContain("x");
    });

  testNeeding(["root"], "a header longer than any", async () => {
    const length = Buffer.from([0xff, 0xff, 0xff, 0x7f]);
    expect(await refused(Buffer.concat([MAGIC, length]))).toMatchObject({
      why: expect.stringMatching(/header of/),
    });
  });

  testNeeding(["root"], "files before the manifest", async () => {
    const bytes = Buffer.concat([MAGIC, entry({ kind: "folder", path: "layer-0", ...plain })]);
    expect(await refused(bytes)).toMatchObject({ why: expect.stringMatching(/no manifest/) });
  });

  /** An entry with a right sum, as the format wants it. */
  function entry(header: unknown, content?: Buffer): Buffer {
    const json = Buffer.from(JSON.stringify(header));
    const parts = [u32(json.length), json];
    if (content !== undefined) parts.push(u32(content.length), u64(0), content, u32(0), u64(content.length));
    const bytes = Buffer.concat(parts);
    return Buffer.concat([bytes, createHash("sha256").update(bytes).digest()]);
  }

  function u32(value: number): Buffer {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  }

  function u64(value: number): Buffer {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    return bytes;
  }
});

describe("the range of ids", () => {
  /** The archive of a hardened checkpoint with this range. */
  async function hardened(idBase: number): Promise<void> {
    const made = await fakeCheckpoint(home, "c");
    for (const path of [made.upper, join(made.upper, "marker")]) await chown(path, idBase, idBase);
    const manifest = JSON.parse(await readFile(join(made.path, "checkpoint.json"), "utf8"));
    Object.assign(manifest.session, { profile: "hardened", idBase });
    manifest.session.layers[0].digest = await digestLayer(made.upper);
    manifest.layers[0].digest = manifest.session.layers[0].digest;
    await writeFile(join(made.path, "checkpoint.json"), JSON.stringify(manifest));
    await exportCheckpoint(home, { checkpoint: "c", file });
  }

  const importIt = () => importCheckpoint(other, { file, image: join(home.images, "disk.raw") });

  testNeeding(["root"], "that another family of this home has is refused by name", async () => {
    await hardened(0x1234_0000);
    await mkdir(join(other.checkpoints, "stranger"));
    await writeFile(join(other.checkpoints, "stranger", "checkpoint.json"), `{"idBase": ${0x1234_0000}}`);
    await expect(importIt()).rejects.toMatchObject({
      code: "ID_RANGE_TAKEN",
      why: expect.stringContaining("stranger"),
    });
    expect(await readdir(other.checkpoints)).toEqual(["stranger"]);
  });

  testNeeding(["root"], "that drums gives to no session is refused", async () => {
    await hardened(0x1000);
    await expect(importIt()).rejects.toMatchObject({ code: "ID_RANGE_TAKEN" });
  });

  testNeeding(["root"], "that the dump's processes do not have is refused", async () => {
    await hardened(0x1234_0000);
    await expect(importIt()).rejects.toMatchObject({
      code: "ARCHIVE_INVALID",
      why: expect.stringContaining("other ids"),
    });
    expect(await readdir(other.checkpoints)).toEqual([]);
  });
});
