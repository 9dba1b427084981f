import { open, truncate } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { crc32 } from "../../src/image/crc32.js";

export const MIB = 1 << 20;
export const TYPE = {
  esp: "c12a7328-f81f-11d2-ba4b-00a0c93ec93b",
  linux: "0fc63daf-8483-4772-8e79-3d69d8477de4",
  root: "4f68bce3-e8cd-4db1-96e7-fbcaf984b709",
} as const;

export interface GptPartition {
  readonly start: number;
  readonly bytes: number;
  readonly type: string;
  readonly label: string;
}

/** A sparse raw disk with a protective MBR and both copies of a GPT. */
export async function makeGptDisk(
  file: string,
  size: number,
  partitions: readonly GptPartition[],
): Promise<void> {
  const handle = await open(file, "w");
  await handle.truncate(size);
  for (const { offset, bytes } of gptPieces(size, partitions))
    await handle.write(bytes, 0, bytes.length, offset);
  await handle.close();
}

/** The bytes of a GPT and where they belong. */
export function gptPieces(
  size: number,
  partitions: readonly GptPartition[],
): { offset: number; bytes: Buffer }[] {
  const sectors = size / 512;
  const entries = Buffer.alloc(128 * 128);
  for (const [index, partition] of partitions.entries()) gptEntry(partition).copy(entries, index * 128);
  const protective = Buffer.alloc(512);
  protective.writeUInt8(0xee, 446 + 4);
  protective.writeUInt32LE(1, 446 + 8);
  protective.writeUInt32LE(sectors - 1, 446 + 12);
  protective.writeUInt16LE(0xaa55, 510);
  return [
    { offset: 0, bytes: protective },
    { offset: 512, bytes: gptHeader(sectors, entries, 1, sectors - 1, 2) },
    { offset: 1024, bytes: entries },
    { offset: (sectors - 33) * 512, bytes: entries },
    { offset: (sectors - 1) * 512, bytes: gptHeader(sectors, entries, sectors - 1, 1, sectors - 33) },
  ];
}

function gptHeader(
  sectors: number,
  entries: Buffer,
  self: number,
  other: number,
  entriesLba: number,
): Buffer {
  const header = Buffer.alloc(512);
  header.write("EFI PART", 0, "latin1");
  header.writeUInt32LE(0x10000, 8);
  header.writeUInt32LE(92, 12);
  header.writeBigUInt64LE(BigInt(self), 24);
  header.writeBigUInt64LE(BigInt(other), 32);
  header.writeBigUInt64LE(34n, 40);
  header.writeBigUInt64LE(BigInt(sectors - 34), 48);
  guidBytes("aabbccdd-0011-2233-4455-66778899aabb").copy(header, 56);
  header.writeBigUInt64LE(BigInt(entriesLba), 72);
  header.writeUInt32LE(128, 80);
  header.writeUInt32LE(128, 84);
  header.writeUInt32LE(crc32(entries), 88);
  header.writeUInt32LE(crc32(header.subarray(0, 92)), 16);
  return header;
}

function gptEntry({ start, bytes, type, label }: GptPartition): Buffer {
  const entry = Buffer.alloc(128);
  guidBytes(type).copy(entry, 0);
  guidBytes("01234567-89ab-cdef-0123-456789abcdef").copy(entry, 16);
  entry.writeBigUInt64LE(BigInt(start / 512), 32);
  entry.writeBigUInt64LE(BigInt((start + bytes) / 512 - 1), 40);
  entry.write(label, 56, "utf16le");
  return entry;
}

function guidBytes(guid: string): Buffer {
  const bytes = Buffer.from(guid.replaceAll("-", ""), "hex");
  bytes.subarray(0, 4).reverse();
  bytes.subarray(4, 6).reverse();
  bytes.subarray(6, 8).reverse();
  return bytes;
}

/** Makes an ext4 filesystem in a file at an offset, filled from a folder. */
export async function makeExt4(
  file: string,
  { offset = 0, bytes, from, label = "" }: { offset?: number; bytes: number; from?: string; label?: string },
): Promise<void> {
  const extra = offset > 0 ? ["-E", `offset=${offset}`] : [];
  const content = from ? ["-d", from] : [];
  await execa("mke2fs", [
    "-q",
    "-F",
    "-t",
    "ext4",
    "-L",
    label,
    ...content,
    ...extra,
    file,
    `${bytes / 1024}k`,
  ]);
}

/** A GPT disk of 32 MiB, 4 MiB of ESP and an ext4 root filled from a folder. */
export async function makeRootDisk(folder: string, from: string, name = "disk.raw"): Promise<string> {
  const file = join(folder, name);
  const size = 32 * MIB;
  const root = { start: 5 * MIB, bytes: 26 * MIB };
  await makeGptDisk(file, size, [
    { start: MIB, bytes: 4 * MIB, type: TYPE.esp, label: "ESP" },
    { ...root, type: TYPE.linux, label: "root" },
  ]);
  await makeExt4(file, { offset: root.start, bytes: root.bytes, from });
  await truncate(file, size);
  return file;
}

/** Converts a raw disk to a qcow2 beside it. */
export async function toQcow2(raw: string, options: readonly string[] = []): Promise<string> {
  const file = raw.replace(/\.raw$/, ".qcow2");
  await execa("qemu-img", ["convert", "-f", "raw", "-O", "qcow2", ...options, raw, file]);
  return file;
}
