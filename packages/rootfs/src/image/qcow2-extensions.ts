import { corrupt } from "./qcow2-errors.js";

/** A name in a header is a path or a format; QEMU takes no longer one. */
export const MAX_NAME_BYTES = 1023;
const MAX_EXTENSIONS = 64;
const BITMAPS_BYTES = 24;

const TYPE = {
  end: 0,
  backingFormat: 0xe2792aca,
  dataFile: 0x44415441,
  bitmaps: 0x23852875,
} as const;

/** The bitmaps extension: where the directory of persistent bitmaps is. Bytes of the file. */
export interface BitmapsExtension {
  readonly count: number;
  readonly offset: number;
  readonly bytes: number;
}

/** What header extensions of those that are known say. */
export interface Extensions {
  readonly backingFormat?: string;
  readonly dataFile?: string;
  readonly bitmaps?: BitmapsExtension;
}

/**
 * Reads the header extensions of a qcow2 (qcow2.txt, "Header extensions"), from the header's end on. They end with
 * the first cluster at the latest. Unknown ones are passed over, as that text asks.
 *
 * @throws RootfsError CORRUPT
 */
export function readExtensions(bytes: Buffer, start: number, clusterBytes: number): Extensions {
  let found: Extensions = {};
  const end = Math.min(bytes.length, clusterBytes);
  let offset = start;
  for (let count = 0; offset + 8 <= end; count++) {
    if (count === MAX_EXTENSIONS) throw corrupt("it has too many header extensions");
    const type = bytes.readUInt32BE(offset);
    const length = bytes.readUInt32BE(offset + 4);
    if (type === TYPE.end) return found;
    if (offset + 8 + length > end)
      throw corrupt(`a header extension of ${length} bytes leaves the first cluster`);
    found = { ...found, ...readExtension(type, bytes.subarray(offset + 8, offset + 8 + length)) };
    offset += 8 + Math.ceil(length / 8) * 8;
  }
  return found;
}

function readExtension(type: number, data: Buffer): Extensions {
  const text = () => data.toString("utf8", 0, MAX_NAME_BYTES);
  if (type === TYPE.backingFormat) return { backingFormat: text() };
  if (type === TYPE.dataFile) return { dataFile: text() };
  return type === TYPE.bitmaps ? { bitmaps: readBitmapsExtension(data) } : {};
}

function readBitmapsExtension(data: Buffer): BitmapsExtension {
  if (data.length !== BITMAPS_BYTES) throw corrupt(`its bitmaps extension has ${data.length} bytes, not 24`);
  const [bytes, offset] = [data.readBigUInt64BE(8), data.readBigUInt64BE(16)];
  if (bytes > BigInt(Number.MAX_SAFE_INTEGER) || offset > BigInt(Number.MAX_SAFE_INTEGER))
    throw corrupt(`its bitmap directory is ${bytes} bytes at ${offset}`);
  return { count: data.readUInt32BE(0), offset: Number(offset), bytes: Number(bytes) };
}
