import type { FileHandle } from "node:fs/promises";
import { RootfsError } from "../errors.js";

/**
 * Reads `length` bytes at `offset`. Past the end it returns fewer bytes, or none; it never returns more.
 * The parsers of this folder work on it alone, so they read a raw file, an exported disk or a fake alike.
 */
export type ReadAt = (offset: number, length: number) => Promise<Buffer>;

/** No parser asks for more than this at once, whatever the numbers on the disk say. */
export const MAX_READ_BYTES = 1 << 20;

/** A ReadAt on an open file. */
export function fileReader(file: FileHandle): ReadAt {
  return async (offset, length) => {
    if (length > MAX_READ_BYTES)
      throw new RootfsError(
        "UNREADABLE",
        `a read of ${length} bytes is over the limit of ${MAX_READ_BYTES}`,
        {
          hint: "This is a fault of the parser or a hostile image; report it.",
        },
      );
    const buffer = Buffer.alloc(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await file.read(buffer, filled, length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  };
}

/** A ReadAt on bytes in memory. */
export function bufferReader(bytes: Buffer): ReadAt {
  return async (offset, length) => bytes.subarray(offset, offset + length);
}

/** The part of a reader from `start`, `bytes` long, as a reader of its own. */
export function sliceReader(read: ReadAt, start: number, bytes: number): ReadAt {
  return async (offset, length) => {
    if (offset < 0 || offset >= bytes) return Buffer.alloc(0);
    return await read(start + offset, Math.min(length, bytes - offset));
  };
}
