import fc from "fast-check";
import { expect, test } from "vitest";
import {
  assertUsableQcow2,
  bufferReader,
  checkQcow2Extents,
  findRootPartition,
  parsePartitions,
  parseQcow2Header,
  type ReadAt,
  RootfsError,
  readQcow2Bitmaps,
  readQcow2Snapshots,
  recogniseFilesystem,
} from "../../src/index.js";
import { gptPieces, MIB, TYPE } from "../helpers/disk.js";
import { btrfsSuperblock, ext4Superblock, xfsSuperblock } from "../helpers/superblocks.js";

const MAX_BYTES = 16 << 20;

/** Counts what a parser asks for, so that a number from the disk cannot become an allocation. */
function measured(bytes: Buffer): { read: ReadAt; largest: () => number; total: () => number } {
  let largest = 0;
  let total = 0;
  const inner = bufferReader(bytes);
  return {
    read: async (offset, length) => {
      expect(Number.isSafeInteger(offset) && offset >= 0, `offset ${offset}`).toBe(true);
      expect(Number.isSafeInteger(length) && length >= 0, `length ${length}`).toBe(true);
      largest = Math.max(largest, length);
      total += length;
      return await inner(offset, length);
    },
    largest: () => largest,
    total: () => total,
  };
}

async function onlyRootfsErrors(run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof RootfsError)) throw error;
  }
}

/** Bytes of a good file with some of them replaced. */
function spoilt(good: Buffer, upTo: number): fc.Arbitrary<Buffer> {
  const change = fc.record({
    offset: fc.integer({ min: 0, max: upTo - 8 }),
    value: fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      fc.constantFrom(0n, 1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 32n - 1n, 2n ** 53n),
    ),
    width: fc.constantFrom(1, 4, 8),
  });
  return fc.array(change, { maxLength: 6 }).map((changes) => {
    const bytes = Buffer.from(good);
    for (const { offset, value, width } of changes) {
      if (width === 1) bytes.writeUInt8(Number(value & 0xffn), offset);
      if (width === 4) bytes.writeUInt32BE(Number(value & 0xffff_ffffn), offset);
      if (width === 8) bytes.writeBigUInt64BE(value, offset);
    }
    return bytes;
  });
}

/** A qcow2 of version 3 with one L2 table and two clusters, made by hand. */
function smallQcow2(): Buffer {
  const cluster = 65536;
  const bytes = Buffer.alloc(cluster * 6);
  bytes.writeUInt32BE(0x514649fb, 0);
  bytes.writeUInt32BE(3, 4);
  bytes.writeUInt32BE(16, 20);
  bytes.writeBigUInt64BE(BigInt(MIB), 24);
  bytes.writeUInt32BE(1, 36);
  bytes.writeBigUInt64BE(BigInt(cluster * 2), 40);
  bytes.writeBigUInt64BE(BigInt(cluster), 48);
  bytes.writeUInt32BE(1, 56);
  bytes.writeUInt32BE(4, 96);
  bytes.writeUInt32BE(104, 100);
  // Two snapshots in the last cluster, a bitmap in the one before.
  bytes.writeUInt32BE(2, 60);
  bytes.writeBigUInt64BE(BigInt(cluster * 5), 64);
  bytes.writeBigUInt64BE(1n, 88);
  bytes.writeUInt32BE(0x23852875, 104);
  bytes.writeUInt32BE(24, 108);
  bytes.writeUInt32BE(1, 112);
  bytes.writeBigUInt64BE(32n, 120);
  bytes.writeBigUInt64BE(BigInt(cluster * 4), 128);
  bytes.writeUInt8(16, cluster * 4 + 17);
  bytes.writeBigUInt64BE((1n << 63n) | BigInt(cluster * 3), cluster * 2);
  bytes.writeBigUInt64BE((1n << 63n) | BigInt(cluster * 4), cluster * 3);
  bytes.writeBigUInt64BE((1n << 62n) | BigInt(cluster * 5), cluster * 3 + 8);
  return bytes;
}

async function examineQcow2(bytes: Buffer): Promise<void> {
  const { read, largest, total } = measured(bytes);
  await onlyRootfsErrors(async () => {
    const header = parseQcow2Header(await read(0, 1 << 20));
    assertUsableQcow2(header, { fileBytes: bytes.length });
    await checkQcow2Extents(read, header, { fileBytes: bytes.length });
    await readQcow2Snapshots(read, header);
    await readQcow2Bitmaps(read, header);
  });
  expect(largest()).toBeLessThanOrEqual(1 << 20);
  expect(total()).toBeLessThanOrEqual(MAX_BYTES);
}

async function examineDisk(bytes: Buffer): Promise<void> {
  const { read, largest } = measured(bytes);
  await onlyRootfsErrors(async () => findRootPartition(await parsePartitions(read, bytes.length)));
  expect(largest()).toBeLessThanOrEqual(1 << 20);
}

test("the qcow2 made by hand is good before it is spoilt", async () => {
  const bytes = smallQcow2();
  const header = parseQcow2Header(bytes);
  assertUsableQcow2(header, { fileBytes: bytes.length });
  expect(await checkQcow2Extents(bufferReader(bytes), header, { fileBytes: bytes.length })).toEqual({
    l2Tables: 1,
    allocatedClusters: 1,
    compressedClusters: 1,
  });
  expect(await readQcow2Snapshots(bufferReader(bytes), header)).toHaveLength(2);
  expect(await readQcow2Bitmaps(bufferReader(bytes), header)).toHaveLength(1);
});

test("no spoilt qcow2 header or table gives anything but a RootfsError, or a large read", async () => {
  const good = smallQcow2();
  await fc.assert(fc.asyncProperty(spoilt(good, 144), examineQcow2), { numRuns: 1500 });
  await fc.assert(fc.asyncProperty(spoilt(good, good.length), examineQcow2), { numRuns: 300 });
});

test("no random bytes behind a qcow2 magic give anything but a RootfsError", async () => {
  const anything = fc.uint8Array({ maxLength: 4096 }).map((tail) => {
    const head = Buffer.from([0x51, 0x46, 0x49, 0xfb, 0, 0, 0, 3]);
    return Buffer.concat([head, tail]);
  });
  await fc.assert(fc.asyncProperty(anything, examineQcow2), { numRuns: 1500 });
});

test("no spoilt GPT or MBR gives anything but a RootfsError, or a large read", async () => {
  const size = 2 * MIB;
  const disk = Buffer.alloc(size);
  const partitions = [{ start: MIB, bytes: MIB / 2, type: TYPE.linux, label: "root" }];
  for (const { offset, bytes } of gptPieces(size, partitions)) bytes.copy(disk, offset);
  await fc.assert(fc.asyncProperty(spoilt(disk, 1200), examineDisk), { numRuns: 200 });
  const mbr = Buffer.alloc(MIB);
  mbr.writeUInt16LE(0xaa55, 510);
  const table = fc.uint8Array({ minLength: 64, maxLength: 64 }).map((entries) => {
    const bytes = Buffer.from(mbr);
    for (const [index, value] of entries.entries())
      bytes.writeUInt8(index % 16 === 0 ? value & 0x80 : value, 446 + index);
    return bytes;
  });
  await fc.assert(fc.asyncProperty(table, examineDisk), { numRuns: 500 });
});

test("no spoilt superblock gives anything but an answer", async () => {
  for (const [block, at] of [
    [ext4Superblock(), 1024],
    [xfsSuperblock("x"), 0],
    [btrfsSuperblock("b"), 65536],
  ] as const)
    await fc.assert(
      fc.asyncProperty(spoilt(block, 512), fc.integer({ min: 0, max: 70_000 }), async (bytes, length) => {
        const disk = Buffer.alloc(70_000);
        bytes.copy(disk, at);
        await recogniseFilesystem(bufferReader(disk.subarray(0, length)));
      }),
      { numRuns: 200 },
    );
});
