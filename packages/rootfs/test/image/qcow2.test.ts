import { open, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import {
  assertUsableQcow2,
  bufferReader,
  checkQcow2Extents,
  describeImage,
  parseQcow2Header,
  readQcow2Header,
} from "../../src/index.js";
import { temporaryFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

const create = (file: string, ...options: string[]) =>
  execa("qemu-img", ["create", "-q", "-f", "qcow2", ...options, file, "64M"]);

/** A qcow2 with 3 MiB of data that does not compress to nothing. */
async function withData(folder: string, ...options: string[]): Promise<string> {
  const raw = join(folder, "data.raw");
  const file = join(folder, "data.qcow2");
  const pattern = Buffer.from(Array.from({ length: 3 << 20 }, (_, index) => (index * 2654435761) >>> 24));
  await writeFile(raw, pattern);
  await truncate(raw, 64 << 20);
  await execa("qemu-img", ["convert", "-f", "raw", "-O", "qcow2", ...options, raw, file]);
  return file;
}

const KINDS: readonly (readonly string[])[] = [
  ["-o", "cluster_size=512"],
  ["-o", "cluster_size=2M,refcount_bits=1"],
  ["-o", "extended_l2=on,cluster_size=128k"],
  ["-c", "-o", "compression_type=zlib"],
  ["-c", "-o", "compat=0.10"],
  ["-c", "-o", "compression_type=zstd"],
  ["-c", "-o", "compression_type=zstd,cluster_size=4k,refcount_bits=64"],
];

for (const options of KINDS)
  testNeeding(
    ["program:qemu-img"],
    `a qcow2 with ${options.join(" ")} holds as many clusters as qemu-img counts`,
    async () => {
      const folder = await temporaryFolder();
      const file = await withData(folder, ...options);
      const header = await readQcow2Header(file);
      const bytes = await readFile(file);
      assertUsableQcow2(header, { fileBytes: bytes.length });
      const extents = await checkQcow2Extents(bufferReader(bytes), header, { fileBytes: bytes.length });
      const check = JSON.parse((await execa("qemu-img", ["check", "--output=json", file])).stdout);
      expect(extents.allocatedClusters + extents.compressedClusters).toBe(check["allocated-clusters"]);
      expect(extents.compressedClusters).toBe(check["compressed-clusters"] ?? 0);
    },
  );

testNeeding(["program:qemu-img"], "a backing file is refused, and allowed only by its own path", async () => {
  const folder = await temporaryFolder();
  const base = join(folder, "base.qcow2");
  const top = join(folder, "top.qcow2");
  await create(base);
  await execa("qemu-img", ["create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", "base.qcow2", top]);
  const header = await readQcow2Header(top);
  expect(header).toMatchObject({ backingFile: "base.qcow2", backingFormat: "qcow2" });
  const error = await failure(() => describeImage(top), "BACKING_FILE");
  expect(error.message).toContain("base.qcow2");
  await failure(() => describeImage(top, { allow: [join(folder, "else.qcow2")] }), "BACKING_FILE");
  const source = await describeImage(top, { allow: [base] });
  expect(source.node.backing).toMatchObject({ driver: "qcow2", file: { filename: base }, backing: null });
  expect((await describeImage(base)).node.backing).toBeNull();
});

testNeeding(
  ["program:qemu-img"],
  "a chain of backing files that turns back on itself ends in an error",
  async () => {
    const folder = await temporaryFolder();
    const [a, b] = [join(folder, "a.qcow2"), join(folder, "b.qcow2")];
    await create(a);
    await execa("qemu-img", ["create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", a, b]);
    await execa("qemu-img", ["rebase", "-u", "-f", "qcow2", "-F", "qcow2", "-b", b, a]);
    await failure(() => describeImage(a, { allow: [a, b] }), "CORRUPT");
  },
);

testNeeding(["program:qemu-img"], "an external data file is refused", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "image.qcow2");
  await create(file, "-o", `data_file=${join(folder, "data.raw")}`);
  const error = await failure(() => describeImage(file), "DATA_FILE");
  expect(error.message).toContain("data.raw");
  const source = await describeImage(file, { allow: [join(folder, "data.raw")] });
  expect(source.node["data-file"]).toMatchObject({ filename: join(folder, "data.raw") });
});

testNeeding(["program:qemu-img"], "an encrypted image is refused", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "image.qcow2");
  await create(file);
  for (const [method, name] of [
    [1, "aes"],
    [2, "luks"],
  ] as const) {
    const bytes = await readFile(file);
    bytes.writeUInt32BE(method, 32);
    await writeFile(file, bytes);
    expect((await failure(() => describeImage(file), "ENCRYPTED")).message).toContain(name);
  }
});

testNeeding(["program:qemu-img"], "the corrupt bit and unknown features are refused", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "image.qcow2");
  await create(file);
  const bytes = await readFile(file);
  bytes.writeBigUInt64BE(2n, 72);
  await writeFile(file, bytes);
  await failure(() => describeImage(file), "CORRUPT");
  bytes.writeBigUInt64BE(1n << 20n, 72);
  await writeFile(file, bytes);
  await failure(() => describeImage(file), "UNSUPPORTED_QCOW2");
});

for (const options of [[], ["-c", "-o", "compression_type=zstd"]])
  testNeeding(
    ["program:qemu-img"],
    `a qcow2 ${options.join(" ")} cut short anywhere before its last sectors is refused`,
    async () => {
      const folder = await temporaryFolder();
      const file = await withData(folder, ...options);
      await describeImage(file);
      const { size } = await stat(file);
      for (const keep of [size - 128 * 1024, size >> 1, 1 << 16, 4096, 100, 50]) {
        await truncate(file, keep);
        await failure(() => describeImage(file), "TRUNCATED");
      }
    },
  );

test("what is no qcow2 is said to be none, and versions beyond 3 are named", async () => {
  await failure(() => parseQcow2Header(Buffer.alloc(512)), "NOT_QCOW2");
  await failure(() => parseQcow2Header(Buffer.alloc(0)), "NOT_QCOW2");
  const header = Buffer.alloc(512);
  header.writeUInt32BE(0x514649fb, 0);
  header.writeUInt32BE(4, 4);
  expect((await failure(() => parseQcow2Header(header), "UNSUPPORTED_QCOW2")).message).toContain("version 4");
});

testNeeding(
  ["program:qemu-img"],
  "huge tables in a header are refused by number, before anything is allocated",
  async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "image.qcow2");
    await create(file);
    const good = await readFile(file);
    const changes: readonly [number, number][] = [
      [36, 0xffffffff], // L1 entries
      [56, 0xffffffff], // refcount clusters
      [60, 0xffffffff], // snapshots
      [20, 63], // cluster bits
      [96, 60], // refcount order
      [100, 0xfffffff8], // header length
      [16, 0xffffffff], // backing name length, with an offset
    ];
    for (const [offset, value] of changes) {
      const bytes = Buffer.from(good);
      if (offset === 16) bytes.writeBigUInt64BE(200n, 8);
      bytes.writeUInt32BE(value, offset);
      await writeFile(file, bytes);
      const error = await describeImage(file).then(
        () => undefined,
        (caught) => caught,
      );
      expect(["CORRUPT", "TRUNCATED"], `field at ${offset}`).toContain(error?.code);
    }
  },
);

testNeeding(
  ["program:qemu-img"],
  "an L2 table that is used twice is refused, so no small file makes a long walk",
  async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "image.qcow2");
    await withData(folder, "-o", "cluster_size=512");
    const bytes = await readFile(join(folder, "data.qcow2"));
    const header = parseQcow2Header(bytes);
    bytes.copy(bytes, header.l1Offset + 8, header.l1Offset, header.l1Offset + 8);
    await writeFile(file, bytes);
    expect((await failure(() => describeImage(file), "CORRUPT")).message).toContain("used twice");
  },
);

testNeeding(
  ["program:qemu-img"],
  "a raw disk whose guest wrote a qcow2 header is read as raw when the caller says so",
  async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "disk.raw");
    const victim = join(folder, "trap.qcow2");
    await execa("qemu-img", [
      "create",
      "-q",
      "-f",
      "qcow2",
      "-u",
      "-F",
      "raw",
      "-b",
      "/etc/passwd",
      victim,
      "1M",
    ]);
    await writeFile(file, await readFile(victim));
    await failure(() => describeImage(file), "BACKING_FILE");
    const handle = await open(file);
    await handle.close();
    expect(await describeImage(file, { format: "raw" })).toMatchObject({
      format: "raw",
      node: { driver: "raw" },
    });
  },
);
