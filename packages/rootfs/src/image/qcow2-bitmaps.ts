import type { Qcow2Header } from "./qcow2.js";
import { corrupt, truncated } from "./qcow2-errors.js";
import { MAX_READ_BYTES, type ReadAt } from "./reader.js";

const FIXED_BYTES = 24;
/** QEMU's own limits: QCOW2_MAX_BITMAPS, and BME_MIN_GRANULARITY_BITS to BME_MAX_GRANULARITY_BITS. */
const MAX_BITMAPS = 65535;
const MIN_GRANULARITY_BITS = 9;
const MAX_GRANULARITY_BITS = 31;

/** A persistent dirty bitmap, which backup programs keep. Nothing of it matters to a reader of the disk. */
export interface Qcow2Bitmap {
  readonly name: string;
  /** Bytes of the disk that one bit stands for. */
  readonly granularityBytes: number;
  /** It was not saved whole. */
  readonly inUse: boolean;
  /** It is kept up to date whenever the image is written. */
  readonly auto: boolean;
}

/**
 * Reads the directory of persistent bitmaps (qcow2.txt, "Bitmaps"); none where the header names none.
 *
 * @throws RootfsError CORRUPT, TRUNCATED
 */
export async function readQcow2Bitmaps(
  read: ReadAt,
  { bitmaps }: Pick<Qcow2Header, "bitmaps">,
): Promise<Qcow2Bitmap[]> {
  if (bitmaps === undefined) return [];
  const { count, offset, bytes } = bitmaps;
  if (count === 0 || count > MAX_BITMAPS) throw corrupt(`it claims ${count} bitmaps`);
  if (bytes > MAX_READ_BYTES) throw corrupt(`its bitmap directory of ${bytes} bytes is over 1 MiB`);
  const directory = await read(offset, bytes);
  if (directory.length < bytes) throw truncated("the bitmap directory", { offset, bytes });
  const found: Qcow2Bitmap[] = [];
  for (let at = 0; found.length < count; ) {
    const { bitmap, bytes: used } = parseEntry(directory.subarray(at));
    found.push(bitmap);
    at += Math.ceil(used / 8) * 8;
  }
  return found;
}

function parseEntry(entry: Buffer): { bitmap: Qcow2Bitmap; bytes: number } {
  if (entry.length < FIXED_BYTES) throw corrupt("its bitmap directory ends inside an entry");
  const flags = entry.readUInt32BE(12);
  const granularityBits = entry.readUInt8(17);
  const nameAt = FIXED_BYTES + entry.readUInt32BE(20);
  const bytes = nameAt + entry.readUInt16BE(18);
  if (bytes > entry.length) throw corrupt("a bitmap's name leaves the directory");
  if (granularityBits < MIN_GRANULARITY_BITS || granularityBits > MAX_GRANULARITY_BITS)
    throw corrupt(`a bitmap's granularity is 2^${granularityBits} bytes (2^9 to 2^31 are valid)`);
  return {
    bitmap: {
      name: entry.toString("utf8", nameAt, bytes),
      granularityBytes: 2 ** granularityBits,
      inUse: (flags & 1) !== 0,
      auto: (flags & 2) !== 0,
    },
    bytes,
  };
}
