import { bytesPerL1Entry, type Qcow2Header } from "./qcow2.js";
import { corrupt, truncated } from "./qcow2-errors.js";
import type { ReadAt } from "./reader.js";

const CHUNK_BYTES = 64 << 10;
const COMPRESSED = 0x4000_0000; // bit 62, in the upper word
const READS_ZERO = 1;

/** What a walk over the tables found. */
export interface Qcow2Extents {
  readonly l2Tables: number;
  readonly allocatedClusters: number;
  readonly compressedClusters: number;
}

interface Walk {
  readonly read: ReadAt;
  readonly header: Qcow2Header;
  readonly fileBytes: number;
  /** Where data clusters end: with an external data file the offsets are that file's, not this one's. */
  readonly dataBytes: number;
  readonly totals: { l2Tables: number; allocatedClusters: number; compressedClusters: number };
}

/**
 * Walks L1 and L2 tables and proves that every table and every cluster begins inside the file, so that
 * a download that was cut short is noticed before a desktop reads zeros. Reads 8 bytes for each cluster
 * of the disk (4 MiB for 32 GiB) in chunks of 64 KiB.
 *
 * @throws RootfsError TRUNCATED, CORRUPT
 */
export async function checkQcow2Extents(
  read: ReadAt,
  header: Qcow2Header,
  { fileBytes }: { readonly fileBytes: number },
): Promise<Qcow2Extents> {
  const totals = { l2Tables: 0, allocatedClusters: 0, compressedClusters: 0 };
  const dataBytes = header.dataFile === undefined ? fileBytes : Number.POSITIVE_INFINITY;
  const walk = { read, header, fileBytes, dataBytes, totals };
  const seen = new Set<number>();
  const entries = Math.min(header.l1Entries, Math.ceil(header.virtualBytes / bytesPerL1Entry(header)));
  for await (const chunk of tableChunks(read, header.l1Offset, entries * 8, "the L1 table"))
    for (let at = 0; at < chunk.length; at += 8) {
      const offset = entryOffset(chunk, at);
      if (offset !== 0) await checkL2(walk, offset, seen);
    }
  return totals;
}

async function checkL2(walk: Walk, table: number, seen: Set<number>): Promise<void> {
  const { header, fileBytes, totals } = walk;
  if (table % header.clusterBytes !== 0) throw corrupt(`an L2 table is at ${table}, inside a cluster`);
  if (table + header.clusterBytes > fileBytes) throw truncated("an L2 table", { offset: table, fileBytes });
  // A table used twice is corruption, and repeating one is how a small file would make a long walk.
  if (seen.has(table)) throw corrupt(`the L2 table at ${table} is used twice`);
  seen.add(table);
  totals.l2Tables += 1;
  const step = header.extendedL2 ? 16 : 8;
  for await (const chunk of tableChunks(walk.read, table, header.clusterBytes, "an L2 table"))
    for (let at = 0; at < chunk.length; at += step) checkCluster(walk, chunk, at);
}

function checkCluster(walk: Walk, chunk: Buffer, at: number): void {
  const { header, dataBytes, totals } = walk;
  if (chunk.readUInt32BE(at) & COMPRESSED) {
    checkCompressed(walk, chunk, at);
    return;
  }
  const offset = entryOffset(chunk, at);
  if (offset === 0) return;
  totals.allocatedClusters += 1;
  if (offset % header.clusterBytes !== 0) throw corrupt(`a cluster is at ${offset}, inside another one`);
  // A cluster that reads as zeros, or has subclusters, may be reserved and never have been written.
  if (chunk.readUInt32BE(at + 4) & READS_ZERO || header.extendedL2) return;
  if (offset >= dataBytes) throw truncated("a cluster", { offset, fileBytes: dataBytes });
}

/**
 * qcow2.txt, "Compressed Clusters Descriptor": with x = 62 - (cluster_bits - 8), bits 0 to x-1 are the
 * offset and bits x to 61 the number of further sectors of 512 bytes. In words of 32 bits, because
 * a compressed image has half a million of them and BigInt is slow.
 */
function checkCompressed({ header, fileBytes, totals }: Walk, chunk: Buffer, at: number): void {
  totals.compressedClusters += 1;
  const upper = chunk.readUInt32BE(at);
  const upperBits = 30 - (header.clusterBits - 8);
  const offset = (upper & (2 ** upperBits - 1)) * 2 ** 32 + chunk.readUInt32BE(at + 4);
  const sectors = ((upper & 0x3fff_ffff) >>> upperBits) + 1;
  const end = Math.floor(offset / 512) * 512 + sectors * 512;
  if (end > Math.ceil(fileBytes / 512) * 512) throw truncated("a compressed cluster", { offset, fileBytes });
}

/** Bits 9 to 55 of an L1 entry or a standard L2 entry: the offset of what it points to. */
function entryOffset(chunk: Buffer, at: number): number {
  return (chunk.readUInt32BE(at) & 0x00ff_ffff) * 2 ** 32 + ((chunk.readUInt32BE(at + 4) & ~0x1ff) >>> 0);
}

async function* tableChunks(
  read: ReadAt,
  offset: number,
  bytes: number,
  what: string,
): AsyncGenerator<Buffer> {
  for (let done = 0; done < bytes; done += CHUNK_BYTES) {
    const wanted = Math.min(CHUNK_BYTES, bytes - done);
    const chunk = await read(offset + done, wanted);
    if (chunk.length < wanted) throw truncated(what, { offset });
    yield chunk;
  }
}
