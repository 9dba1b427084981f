import { randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";

/** Bytes of a logical block; both partition tables count in it. */
export const SECTOR = 512;

/** Partition types of the UEFI and Discoverable Partitions specifications. */
export const PARTITION_TYPES = {
  esp: "c12a7328-f81f-11d2-ba4b-00a0c93ec93b",
  linuxRootX64: "4f68bce3-e8cd-4db1-96e7-fbcaf984b709",
} as const;

/** A partition to write; offsets and lengths in sectors. */
export interface GptPartition {
  readonly type: string;
  /** Default random. */
  readonly guid?: string;
  /** At most 36 UTF-16 units. */
  readonly name: string;
  readonly firstSector: number;
  readonly sectors: number;
}

/** Two pieces of a disk: protective MBR with the primary table at its start, the backup table at its end. */
export interface Gpt {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** Byte at which `tail` goes. */
  readonly tailOffset: number;
}

const ENTRIES = 128;
const ENTRY_BYTES = 128;
const TABLE_SECTORS = (ENTRIES * ENTRY_BYTES) / SECTOR;
const HEADER_BYTES = 92;

/** Sectors at either end that a table takes: MBR (at the start only), header, entries. */
export const GPT_HEAD_SECTORS = 2 + TABLE_SECTORS;
export const GPT_TAIL_SECTORS = 1 + TABLE_SECTORS;

/**
 * A GUID partition table (UEFI Specification 2.10, chapter 5) for a disk of `sectors` sectors.
 * @param options.guid the disk's own, default random
 */
export function makeGpt(
  partitions: readonly GptPartition[],
  { sectors, guid = randomUUID() }: { readonly sectors: number; readonly guid?: string },
): Gpt {
  const entries = Buffer.alloc(ENTRIES * ENTRY_BYTES);
  partitions.forEach((partition, index) => {
    writeEntry(entries.subarray(index * ENTRY_BYTES, (index + 1) * ENTRY_BYTES), partition);
  });
  const last = sectors - 1;
  const common = { guid, entries, firstUsable: GPT_HEAD_SECTORS, lastUsable: sectors - GPT_TAIL_SECTORS - 1 };
  const primary = header({ ...common, own: 1, other: last, table: 2 });
  const backup = header({ ...common, own: last, other: 1, table: last - TABLE_SECTORS });
  return {
    head: Buffer.concat([protectiveMbr(sectors), primary, entries]),
    tail: Buffer.concat([entries, backup]),
    tailOffset: (sectors - GPT_TAIL_SECTORS) * SECTOR,
  };
}

/** One MBR partition of type 0xEE over the whole disk, so that old tools see it as taken. */
function protectiveMbr(sectors: number): Buffer {
  const mbr = Buffer.alloc(SECTOR);
  mbr.set([0x00, 0x00, 0x02, 0x00, 0xee, 0xff, 0xff, 0xff], 446);
  mbr.writeUInt32LE(1, 454);
  mbr.writeUInt32LE(Math.min(sectors - 1, 0xffffffff), 458);
  mbr.writeUInt16LE(0xaa55, 510);
  return mbr;
}

function writeEntry(
  entry: Buffer,
  { type, guid = randomUUID(), name, firstSector, sectors }: GptPartition,
): void {
  guidBytes(type).copy(entry, 0);
  guidBytes(guid).copy(entry, 16);
  entry.writeBigUInt64LE(BigInt(firstSector), 32);
  entry.writeBigUInt64LE(BigInt(firstSector + sectors - 1), 40);
  entry.write(name.slice(0, 36), 56, "utf16le");
}

function header(facts: {
  guid: string;
  entries: Buffer;
  firstUsable: number;
  lastUsable: number;
  own: number;
  other: number;
  table: number;
}): Buffer {
  const block = Buffer.alloc(SECTOR);
  block.write("EFI PART", 0, "latin1");
  block.writeUInt32LE(0x00010000, 8);
  block.writeUInt32LE(HEADER_BYTES, 12);
  block.writeBigUInt64LE(BigInt(facts.own), 24);
  block.writeBigUInt64LE(BigInt(facts.other), 32);
  block.writeBigUInt64LE(BigInt(facts.firstUsable), 40);
  block.writeBigUInt64LE(BigInt(facts.lastUsable), 48);
  guidBytes(facts.guid).copy(block, 56);
  block.writeBigUInt64LE(BigInt(facts.table), 72);
  block.writeUInt32LE(ENTRIES, 80);
  block.writeUInt32LE(ENTRY_BYTES, 84);
  block.writeUInt32LE(crc32(facts.entries), 88);
  block.writeUInt32LE(crc32(block.subarray(0, HEADER_BYTES)), 16);
  return block;
}

/** The first three fields of a GUID are stored little-endian, the rest as written. */
function guidBytes(guid: string): Buffer {
  const [a = "", b = "", c = "", ...rest] = guid.split("-");
  const swapped = [a, b, c].map((field) => Buffer.from(field, "hex").reverse());
  return Buffer.concat([...swapped, Buffer.from(rest.join(""), "hex")]);
}
