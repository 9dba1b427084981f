import { execFileSync } from "node:child_process";
import { constants, createReadStream, createWriteStream } from "node:fs";
import {
  chmod,
  chown,
  link,
  lstat,
  lutimes,
  mkdir,
  mkdtemp,
  open,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { sys } from "@drums/nsexec";
import { digestLayer } from "@drums/rootfs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { testNeeding } from "../../../../../tools/testing/needs.js";
import { readArchive } from "../../../src/checkpoint/archive/read.js";
import { Unpacker } from "../../../src/checkpoint/archive/unpack.js";
import { archiveOf, dataRuns } from "../../../src/checkpoint/archive/write.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drums-archive-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** All that an upper can hold. */
async function fillUpper(upper: string): Promise<void> {
  const at = (name: string) => join(upper, name);
  await mkdir(at("deep/er"), { recursive: true });
  await writeFile(at("deep/er/file"), "content");
  await link(at("deep/er/file"), at("second-name"));
  await symlink("../nowhere", at("link"));
  await writeFile(Buffer.concat([Buffer.from(`${upper}/`), Buffer.from([0xff, 0xfe])]), "no utf-8");
  await writeFile(at("empty"), "");
  await writeFile(at("setuid"), "#!");
  await chown(at("setuid"), 1000, 1000);
  await chmod(at("setuid"), 0o4755);
  sys.mknod(at("gone"), constants.S_IFCHR, 0);
  sys.mknod(at("fifo"), constants.S_IFIFO | 0o640);
  sys.mknod(at("socket"), constants.S_IFSOCK | 0o600);
  sys.lsetxattr(at("deep"), "trusted.overlay.opaque", Buffer.from("y"));
  sys.lsetxattr(at("deep"), "trusted.overlay.origin", Buffer.from([0, 0xfb, 0x1d, 0xff]));
  const sparse = await open(at("sparse"), "w");
  await sparse.write("start", 0);
  await sparse.write("end", 8 << 20);
  await sparse.truncate(16 << 20);
  await sparse.close();
  execFileSync("setcap", ["cap_net_raw+ep", at("empty")]);
  await lutimes(at("deep"), 1_700_000_000, 1_700_000_000.5);
}

testNeeding(
  ["root", "program:setcap"],
  "an upper comes out of an archive as it went in: owners, links, holes, whiteouts, attributes, times",
  async () => {
    const [upper, file, out] = ["upper", "a.archive", "out"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await mkdir(upper);
    await fillUpper(upper);
    await pipeline(Readable.from(archiveOf([{ host: upper, path: "layer-0" }])), createWriteStream(file));
    const unpacker = new Unpacker({
      file,
      destinationOf: (path) => ({
        host: Buffer.from(path.replace(/^layer-0/, out), "latin1"),
        owners: { first: 0, count: 65536 },
      }),
    });
    await readArchive(createReadStream(file), { file, taker: unpacker });
    await unpacker.finish();

    expect(await digestLayer(out)).toBe(await digestLayer(upper));
    const sparse = await lstat(join(out, "sparse"));
    expect(sparse.size).toBe(16 << 20);
    expect(sparse.blocks * 512).toBeLessThan(1 << 20);
    expect((await lstat(file)).size).toBeLessThan(1 << 20);
    expect((await lstat(join(out, "deep"))).mtimeMs).toBe(1_700_000_000_500);
    expect((await lstat(join(out, "second-name"))).ino).toBe((await lstat(join(out, "deep/er/file"))).ino);
  },
);

testNeeding(["root"], "a device other than a whiteout is not exported", async () => {
  sys.mknod(join(folder, "null"), constants.S_IFCHR | 0o666, 0x103);
  const read = async () => {
    for await (const _ of archiveOf([{ host: folder, path: "layer-0" }]));
  };
  await expect(read()).rejects.toMatchObject({ code: "ARCHIVE_UNSUPPORTED", where: "layer-0/null" });
});

test("whole blocks of zeros are left out, wherever they lie", () => {
  const block = 1 << 16;
  const bytes = Buffer.alloc(4 * block + 10);
  expect(dataRuns(bytes)).toEqual([]);
  bytes[block] = 1;
  bytes[3 * block - 1] = 1;
  bytes[4 * block + 9] = 1;
  expect(dataRuns(bytes)).toEqual([
    [block, 3 * block],
    [4 * block, 4 * block + 10],
  ]);
});
