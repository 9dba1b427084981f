import { buffer } from "node:stream/consumers";
import { crc32 } from "node:zlib";
import { type Entry, fromBufferPromise } from "yauzl";

/** Bounds of what is unpacked: the archive comes out of a session. */
export interface ArchiveLimits {
  /** Default 500. */
  readonly maxEntries?: number;
  /** Of all entries together, unpacked; default 64 MiB. */
  readonly maxBytes?: number;
}

/** A file of an archive, in the archive's own order. */
export interface ArchiveFile {
  readonly name: string;
  readonly content: Buffer;
  /** Kept without compression. */
  readonly stored: boolean;
}

/**
 * Unpacks a zip archive in memory: names, sizes and CRCs are checked, folders left out.
 * Throws an Error that says what is wrong with the archive, or which bound it goes beyond.
 */
export async function readArchive(bytes: Buffer, limits: ArchiveLimits = {}): Promise<ArchiveFile[]> {
  const { maxEntries = 500, maxBytes = 64 * 1024 * 1024 } = limits;
  const zip = await fromBufferPromise(bytes, { strictFileNames: true });
  if (zip.entryCount > maxEntries)
    throw new Error(`it has ${zip.entryCount} entries, allowed are ${maxEntries}`);
  const files: ArchiveFile[] = [];
  let total = 0;
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith("/")) continue;
    total += entry.uncompressedSize;
    if (total > maxBytes) throw new Error(`it unpacks to more than ${maxBytes} bytes`);
    const content = await contentOf(entry, (one) => zip.openReadStreamPromise(one));
    files.push({ name: entry.fileName, content, stored: entry.compressionMethod === 0 });
  }
  return files;
}

async function contentOf(
  entry: Entry,
  open: (entry: Entry) => Promise<NodeJS.ReadableStream>,
): Promise<Buffer> {
  const content = await buffer(await open(entry));
  if (crc32(content) === entry.crc32) return content;
  throw new Error(`${entry.fileName} does not have the CRC that the archive names`);
}
