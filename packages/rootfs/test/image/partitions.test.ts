import { expect, test } from "vitest";
import { bufferReader, findRootPartition, type PartitionTable, parsePartitions } from "../../src/index.js";
import { type GptPartition, gptPieces, MIB, TYPE } from "../helpers/disk.js";
import { ext4Superblock, luksHeader, lvmLabel } from "../helpers/superblocks.js";
import { failure } from "../helpers/throws.js";

const SIZE = 16 * MIB;
const ESP: GptPartition = { start: MIB, bytes: MIB, type: TYPE.esp, label: "ESP" };
const LINUX: GptPartition = { start: 2 * MIB, bytes: 8 * MIB, type: TYPE.linux, label: "system" };

function gptDisk(partitions: readonly GptPartition[]): Buffer {
  const disk = Buffer.alloc(SIZE);
  for (const { offset, bytes } of gptPieces(SIZE, partitions)) bytes.copy(disk, offset);
  return disk;
}

const parse = (disk: Buffer) => parsePartitions(bufferReader(disk), disk.length);

test("a GPT is read with start, length, type, label and what each partition holds", async () => {
  const disk = gptDisk([ESP, LINUX]);
  ext4Superblock({ label: "rootfs" }).copy(disk, LINUX.start + 1024);
  const table = await parse(disk);
  expect(table.kind).toBe("gpt");
  expect(table.primaryFault).toBeUndefined();
  expect(table.partitions).toMatchObject([
    { index: 1, start: ESP.start, bytes: ESP.bytes, typeGuid: TYPE.esp, label: "ESP" },
    {
      index: 2,
      start: LINUX.start,
      bytes: LINUX.bytes,
      typeGuid: TYPE.linux,
      label: "system",
      filesystem: { kind: "ext4", label: "rootfs", needsRecovery: false },
    },
  ]);
});

test("a primary GPT with a wrong checksum, in header or entries, gives way to the backup and says so", async () => {
  for (const offset of [512 + 40, 1024 + 60]) {
    const disk = gptDisk([ESP, LINUX]);
    disk.writeUInt8(disk.readUInt8(offset) ^ 0xff, offset);
    const table = await parse(disk);
    expect(table.partitions.map(({ label }) => label)).toEqual(["ESP", "system"]);
    expect(table.primaryFault).toContain("checksum");
  }
});

test("a GPT with both copies bad is an error, not a disk without partitions", async () => {
  const disk = gptDisk([LINUX]);
  disk.fill(0xff, 1024, 1100);
  disk.fill(0xff, SIZE - 512, SIZE - 400);
  await failure(() => parse(disk), "BAD_PARTITION_TABLE");
  const cut = gptDisk([LINUX]).subarray(0, 512);
  await failure(() => parse(cut), "BAD_PARTITION_TABLE");
});

test("GPT entries that leave the disk are left out", async () => {
  const table = await parse(gptDisk([ESP, { ...LINUX, bytes: 64 * MIB }]));
  expect(table.partitions.map(({ index }) => index)).toEqual([1]);
});

interface MbrEntry {
  readonly slot: number;
  readonly type: number;
  readonly first: number;
  readonly sectors: number;
}

function writeMbr(disk: Buffer, sector: number, entries: readonly MbrEntry[]): void {
  const at = sector * 512;
  for (const { slot, type, first, sectors } of entries) {
    disk.writeUInt8(type, at + 446 + slot * 16 + 4);
    disk.writeUInt32LE(first, at + 446 + slot * 16 + 8);
    disk.writeUInt32LE(sectors, at + 446 + slot * 16 + 12);
  }
  disk.writeUInt16LE(0xaa55, at + 510);
}

test("an MBR is read with its logical partitions numbered as Linux does", async () => {
  const disk = Buffer.alloc(SIZE);
  writeMbr(disk, 0, [
    { slot: 0, type: 0x83, first: 2048, sectors: 2048 },
    { slot: 2, type: 0x05, first: 8192, sectors: 16384 },
  ]);
  writeMbr(disk, 8192, [
    { slot: 0, type: 0x83, first: 64, sectors: 1000 },
    { slot: 1, type: 0x05, first: 4096, sectors: 4096 },
  ]);
  writeMbr(disk, 8192 + 4096, [{ slot: 0, type: 0x82, first: 64, sectors: 500 }]);
  const table = await parse(disk);
  expect(table.kind).toBe("mbr");
  expect(table.partitions).toEqual([
    { index: 1, start: 2048 * 512, bytes: 2048 * 512, typeByte: 0x83 },
    { index: 5, start: (8192 + 64) * 512, bytes: 1000 * 512, typeByte: 0x83 },
    { index: 6, start: (8192 + 4096 + 64) * 512, bytes: 500 * 512, typeByte: 0x82 },
  ]);
});

test("a chain of extended tables that turns back on itself ends", async () => {
  const disk = Buffer.alloc(SIZE);
  writeMbr(disk, 0, [{ slot: 0, type: 0x0f, first: 8192, sectors: 16384 }]);
  writeMbr(disk, 8192, [
    { slot: 0, type: 0x83, first: 64, sectors: 100 },
    { slot: 1, type: 0x05, first: 0, sectors: 100 },
  ]);
  expect((await parse(disk)).partitions).toHaveLength(1);
});

test("a disk without a table is one partition, with the filesystem that it holds", async () => {
  const disk = Buffer.alloc(SIZE);
  ext4Superblock({ needsRecovery: true }).copy(disk, 1024);
  expect(await parse(disk)).toMatchObject({
    kind: "none",
    partitions: [{ index: 0, start: 0, bytes: SIZE, filesystem: { kind: "ext4", needsRecovery: true } }],
  });
});

function table(...partitions: PartitionTable["partitions"][number][]): PartitionTable {
  return { kind: "gpt", partitions };
}

const ext4 = (label = "") => ({ kind: "ext4", label, uuid: "", needsRecovery: false }) as const;

test("the root partition is found by type, then by label, then by size", () => {
  const small = { index: 1, start: 1, bytes: 10, typeGuid: TYPE.linux, filesystem: ext4() };
  const big = { ...small, index: 2, bytes: 100 };
  const labelled = { ...small, index: 3, filesystem: ext4("cloudimg-rootfs") };
  const typed = { ...small, index: 4, typeGuid: TYPE.root };
  const foreign = { ...small, index: 5, bytes: 1000, typeGuid: TYPE.esp };
  expect(findRootPartition(table(small, big, labelled, typed)).partition.index).toBe(4);
  expect(findRootPartition(table(small, big, labelled)).partition.index).toBe(3);
  expect(findRootPartition(table(small, big, foreign))).toMatchObject({
    partition: { index: 2 },
    reason: "it is the largest Linux filesystem",
  });
  expect(findRootPartition(table(small, big), { index: 1 })).toMatchObject({ reason: "it was given" });
});

test("no root partition is an error that says what each partition is and why LUKS and LVM are none", async () => {
  const disk = gptDisk([ESP, LINUX]);
  luksHeader().copy(disk, LINUX.start);
  const found = await parse(disk);
  const error = await failure(() => findRootPartition(found), "NO_ROOT_PARTITION");
  expect(error.message).toContain("2: luks");
  expect(error.hint).toContain("Partition 2 is LUKS");
  const volumes = gptDisk([ESP, LINUX]);
  lvmLabel().copy(volumes, LINUX.start + 512);
  const refused = await failure(async () => findRootPartition(await parse(volumes)), "NO_ROOT_PARTITION");
  expect(refused.message).toContain("2: lvm");
  expect(refused.hint).toContain("Partition 2 is LVM");
  await failure(() => findRootPartition(found, { index: 9 }), "NO_ROOT_PARTITION");
  await failure(() => findRootPartition(table()), "NO_ROOT_PARTITION");
});
