import type { RawPartition } from "./partitions.js";
import type { ReadAt } from "./reader.js";

const SECTOR_BYTES = 512;
const ENTRIES_AT = 446;
const ENTRY_BYTES = 16;
const EXTENDED_TYPES = new Set([0x05, 0x0f, 0x85]);
/** Linux itself stops at 255 partitions; no real chain comes near this. */
const MAX_LOGICAL = 128;

/** The type of the one entry that stands before a GPT. */
export const PROTECTIVE_TYPE = 0xee;

interface MbrEntry {
  readonly type: number;
  /** In sectors of 512 bytes. */
  readonly first: number;
  readonly sectors: number;
}

/**
 * The four primary entries of an MBR, or undefined when the sector is none: no signature, or entries
 * whose status byte is neither 0 nor 0x80 (a FAT boot sector has the same signature).
 */
export function parseMbr(sector: Buffer): readonly MbrEntry[] | undefined {
  if (sector.length < SECTOR_BYTES || sector.readUInt16LE(510) !== 0xaa55) return undefined;
  for (let slot = 0; slot < 4; slot++)
    if ((sector.readUInt8(ENTRIES_AT + slot * ENTRY_BYTES) & 0x7f) !== 0) return undefined;
  return [0, 1, 2, 3].map((slot) => entryAt(sector, slot));
}

/**
 * All partitions of an MBR disk: primary ones as 1 to 4, logical ones from 5 as Linux counts them.
 * A chain of extended tables that turns back, or leaves the disk, ends there.
 */
export async function listMbrPartitions(
  read: ReadAt,
  size: number,
  primary: readonly MbrEntry[],
): Promise<RawPartition[]> {
  const found: RawPartition[] = [];
  for (const [slot, entry] of primary.entries()) {
    if (EXTENDED_TYPES.has(entry.type)) continue;
    addInside(found, slot + 1, entry, 0, size);
  }
  const extended = primary.find(({ type }) => EXTENDED_TYPES.has(type));
  if (extended) await addLogical(found, read, size, extended.first);
  return found;
}

/**
 * Each extended table has two entries: a partition counted from that table's own sector, and the next
 * table counted from the first table's sector.
 */
async function addLogical(found: RawPartition[], read: ReadAt, size: number, base: number): Promise<void> {
  const seen = new Set<number>();
  let table = base;
  for (let index = 5; index < 5 + MAX_LOGICAL && !seen.has(table); index++) {
    seen.add(table);
    const sector = await read(table * SECTOR_BYTES, SECTOR_BYTES);
    const entries = parseMbr(sector);
    const [logical, next] = entries ?? [];
    if (!logical) return;
    addInside(found, index, logical, table, size);
    if (!next || !EXTENDED_TYPES.has(next.type) || next.sectors === 0) return;
    table = base + next.first;
  }
}

function addInside(found: RawPartition[], index: number, entry: MbrEntry, base: number, size: number): void {
  const start = (base + entry.first) * SECTOR_BYTES;
  const bytes = entry.sectors * SECTOR_BYTES;
  if (entry.type === 0 || bytes === 0 || start === 0 || start + bytes > size) return;
  found.push({ index, start, bytes, typeByte: entry.type });
}

function entryAt(sector: Buffer, slot: number): MbrEntry {
  const at = ENTRIES_AT + slot * ENTRY_BYTES;
  return {
    type: sector.readUInt8(at + 4),
    first: sector.readUInt32LE(at + 8),
    sectors: sector.readUInt32LE(at + 12),
  };
}
