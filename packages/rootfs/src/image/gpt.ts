import { crc32 } from "./crc32.js";
import type { RawPartition } from "./partitions.js";
import type { ReadAt } from "./reader.js";

/* UEFI specification 2.10, chapter 5.3. All numbers are little-endian. */
const SIGNATURE = "EFI PART";
const MIN_HEADER_BYTES = 92;
const MAX_ENTRIES_BYTES = 1 << 20;

/** A partition table read from a GPT, and which of its two copies was good. */
export interface Gpt {
  readonly partitions: readonly RawPartition[];
  readonly diskGuid: string;
  /** Set when the primary copy was bad and the backup at the end of the disk was used. */
  readonly primaryFault?: string;
}

/** Why there is no usable GPT, or the GPT. */
export type GptResult = { readonly gpt: Gpt } | { readonly fault: string } | undefined;

/**
 * Reads a GPT: the primary header behind the protective MBR, or the backup in the last sector when
 * the primary's checksums do not hold.
 *
 * @returns undefined when neither place has the signature
 */
export async function readGpt(read: ReadAt, size: number, sectorBytes: number): Promise<GptResult> {
  const primary = await readCopy(read, size, sectorBytes, 1);
  if (primary && "gpt" in primary) return primary;
  const backup = await readCopy(read, size, sectorBytes, Math.floor(size / sectorBytes) - 1);
  const primaryFault = primary?.fault ?? "no signature";
  if (backup && "gpt" in backup) return { gpt: { ...backup.gpt, primaryFault } };
  if (!primary && !backup) return undefined;
  return { fault: `primary: ${primaryFault}; backup: ${backup?.fault ?? "no signature"}` };
}

async function readCopy(read: ReadAt, size: number, sectorBytes: number, lba: number): Promise<GptResult> {
  const sector = await read(lba * sectorBytes, sectorBytes);
  if (sector.length < sectorBytes || sector.toString("latin1", 0, 8) !== SIGNATURE) return undefined;
  const header = parseHeader(sector, lba);
  if (typeof header === "string") return { fault: header };
  const entries = await read(header.entriesLba * sectorBytes, header.entries * header.entryBytes);
  if (entries.length < header.entries * header.entryBytes) return { fault: "the entries lie past the end" };
  if (crc32(entries) !== header.entriesCrc) return { fault: "the checksum of the entries is wrong" };
  return { gpt: { partitions: parseEntries(entries, header, size, sectorBytes), diskGuid: header.diskGuid } };
}

interface GptHeader {
  readonly entriesLba: number;
  readonly entries: number;
  readonly entryBytes: number;
  readonly entriesCrc: number;
  readonly diskGuid: string;
}

function parseHeader(sector: Buffer, lba: number): GptHeader | string {
  const headerBytes = sector.readUInt32LE(12);
  if (headerBytes < MIN_HEADER_BYTES || headerBytes > sector.length) return `header length ${headerBytes}`;
  const copy = Buffer.from(sector.subarray(0, headerBytes));
  copy.writeUInt32LE(0, 16);
  if (crc32(copy) !== sector.readUInt32LE(16)) return "the checksum of the header is wrong";
  if (sector.readBigUInt64LE(24) !== BigInt(lba)) return "the header belongs to another sector";
  const entriesLba = sector.readBigUInt64LE(72);
  const entries = sector.readUInt32LE(80);
  const entryBytes = sector.readUInt32LE(84);
  if (entryBytes < 128 || entryBytes > 4096 || entryBytes % 128 !== 0)
    return `entries of ${entryBytes} bytes`;
  if (entries === 0 || entries * entryBytes > MAX_ENTRIES_BYTES) return `${entries} entries`;
  if (entriesLba > BigInt(2 ** 40)) return `entries at sector ${entriesLba}`;
  const entriesCrc = sector.readUInt32LE(88);
  return { entriesLba: Number(entriesLba), entries, entryBytes, entriesCrc, diskGuid: guid(sector, 56) };
}

function parseEntries(bytes: Buffer, header: GptHeader, size: number, sectorBytes: number): RawPartition[] {
  const partitions: RawPartition[] = [];
  for (let index = 0; index < header.entries; index++) {
    const entry = bytes.subarray(index * header.entryBytes, (index + 1) * header.entryBytes);
    const typeGuid = guid(entry, 0);
    if (typeGuid === "00000000-0000-0000-0000-000000000000") continue;
    const first = entry.readBigUInt64LE(32);
    const last = entry.readBigUInt64LE(40);
    const sectors = BigInt(Math.floor(size / sectorBytes));
    // An entry that leaves the disk is nothing to mount; the others are still good.
    if (first === 0n || last < first || last >= sectors) continue;
    partitions.push({
      index: index + 1,
      start: Number(first) * sectorBytes,
      bytes: Number(last - first + 1n) * sectorBytes,
      typeGuid,
      label: name(entry),
    });
  }
  return partitions;
}

/** The first three fields of a GUID are little-endian, the rest is in order. */
function guid(bytes: Buffer, offset: number): string {
  const hex = (from: number, to: number) => bytes.subarray(offset + from, offset + to).toString("hex");
  const reversed = (from: number, to: number) =>
    Buffer.from(bytes.subarray(offset + from, offset + to))
      .reverse()
      .toString("hex");
  return [reversed(0, 4), reversed(4, 6), reversed(6, 8), hex(8, 10), hex(10, 16)].join("-");
}

function name(entry: Buffer): string {
  const raw = entry.toString("utf16le", 56, 128);
  const end = raw.indexOf("\0");
  return (end < 0 ? raw : raw.slice(0, end)).replace(/\p{Cc}|\p{Cs}/gu, "?");
}
