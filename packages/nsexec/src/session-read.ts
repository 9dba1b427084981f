import { NsexecError } from "./errors.js";

const DEFAULT_MAX_BYTES = 1 << 20;
const CHUNK_BYTES = 1 << 18;
const LEAST_BYTES = 4096;

/** How much of a file is read. */
export interface ReadLimit {
  /** The most that is read. Default 1 MiB. */
  readonly maxBytes?: number;
  /** What to do with a larger file: refuse it (the default), or give its first or last `maxBytes`. */
  readonly larger?: "refuse" | "head" | "tail";
}

/** What reading needs of a file handle. */
export interface Readable {
  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
}

/**
 * Reads a regular file that may change at any moment, never more than `maxBytes` of it. `size` is what it said of
 * itself before: asked for again, it could be another by the next line.
 * @throws NsexecError code FILE_TOO_LARGE, also where it grew past the cap while it was read
 */
export async function readBounded(
  handle: Readable,
  path: string,
  options: ReadLimit & { readonly size: number },
): Promise<Buffer> {
  const { maxBytes = DEFAULT_MAX_BYTES, larger = "refuse", size } = options;
  if (larger === "refuse" && size > maxBytes) throw fileTooLarge(path, maxBytes);
  const start = larger === "tail" ? Math.max(0, size - maxBytes) : 0;
  // One byte more than allowed shows that the file grew past the cap while it was read.
  const limit = larger === "refuse" ? maxBytes + 1 : maxBytes;
  const expected = Math.min(limit, Math.max(size - start + 1, LEAST_BYTES));
  const data = await readUpTo(handle, { start, limit, expected });
  if (data.length > maxBytes) throw fileTooLarge(path, maxBytes);
  return data;
}

/**
 * The first read asks for all that the file is said to hold: a screenshot is one read and no copy. Less than was asked
 * for is the end of a regular file.
 */
async function readUpTo(
  handle: Readable,
  { start, limit, expected }: { readonly start: number; readonly limit: number; readonly expected: number },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  while (total < limit) {
    const length = Math.min(total === 0 ? expected : CHUNK_BYTES, limit - total);
    const chunk = Buffer.allocUnsafe(length);
    const { bytesRead } = await handle.read(chunk, 0, length, start + total);
    chunks.push(chunk.subarray(0, bytesRead));
    total += bytesRead;
    if (bytesRead < length) break;
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

function fileTooLarge(path: string, maxBytes: number): NsexecError {
  return new NsexecError("FILE_TOO_LARGE", `${path} in the session is larger than ${maxBytes} bytes`, {
    path,
    hint: "Raise maxBytes, or ask for the head or the tail alone.",
  });
}
