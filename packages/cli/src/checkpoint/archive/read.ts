import { ByteSource } from "@drums/rootfs";
import { z } from "zod";
import { messageOf } from "../../errors.js";
import {
  badArchive,
  type EntryHeader,
  EntrySum,
  type Header,
  headerSchema,
  MAGIC,
  MAX_HEADER_BYTES,
  MAX_PIECE_BYTES,
  SUM_BYTES,
} from "./format.js";

/** A piece of a file's content. */
export interface Piece {
  readonly offset: number;
  readonly bytes: Buffer;
}

/** Takes an archive's entries, one at a time. What it makes of one counts only when the whole archive was read. */
export interface EntryTaker {
  /** Rejecting ends the reading. A file's pieces must be read to their end. */
  take(header: EntryHeader, pieces: AsyncGenerator<Piece>): Promise<void>;
}

/** Bounds of an archive; more is refused before it is made. */
export interface ReadLimits {
  /** Default 1 000 000. */
  readonly maxEntries?: number;
  /** Sizes of all files together, holes too. Default 64 GiB. */
  readonly maxBytes?: number;
}

/**
 * Reads an archive, every sum checked. It may come from anybody: lengths are bounded before anything is allocated.
 * @throws DrumsError ARCHIVE_INVALID, and what `take` throws
 */
export async function readArchive(
  chunks: AsyncIterable<Uint8Array>,
  {
    file,
    taker,
    maxEntries = 1_000_000,
    maxBytes = 2 ** 36,
  }: ReadLimits & { readonly file: string; readonly taker: EntryTaker },
): Promise<void> {
  const source = new ByteSource(chunks);
  const need = async (length: number) => exactly(source, length, file);
  if (!(await source.take(MAGIC.length)).equals(MAGIC))
    throw badArchive(file, "it does not begin as an archive of this version does");
  const sums = new EntrySum();
  let [entries, bytes] = [0, 0];
  for (;;) {
    const sum = new EntrySum();
    const header = await readHeader(need, sum, file);
    if (header.kind === "end") {
      await checkEnd(header, { need, sum, sums, entries, file });
      if ((await source.take(1)).length > 0) throw badArchive(file, "something follows its end");
      return;
    }
    entries += 1;
    if (header.kind === "file") bytes += header.size;
    if (entries > maxEntries || bytes > maxBytes) throw badArchive(file, "it holds more than is allowed");
    await taker.take(header, piecesOf(header, { need, sum, file }));
    const expected = await need(SUM_BYTES);
    if (!sum.digest().equals(expected)) throw badArchive(file, `the sum of ${header.path} is wrong`);
    sums.add(expected);
  }
}

type Need = (length: number) => Promise<Buffer>;

async function exactly(source: ByteSource, length: number, file: string): Promise<Buffer> {
  const bytes = await source.take(length);
  if (bytes.length < length) throw badArchive(file, "it ends too early: it was cut short");
  return bytes;
}

async function readHeader(need: Need, sum: EntrySum, file: string): Promise<Header> {
  const length = sum.add(await need(4)).readUInt32LE(0);
  if (length > MAX_HEADER_BYTES) throw badArchive(file, `a header of ${length} bytes`);
  const json = sum.add(await need(length)).toString("utf8");
  try {
    return headerSchema.parse(JSON.parse(json));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : messageOf(cause);
    throw badArchive(file, `a header is not of its form: ${why}`, cause);
  }
}

interface EndCheck {
  readonly need: Need;
  readonly sum: EntrySum;
  readonly sums: EntrySum;
  readonly entries: number;
  readonly file: string;
}

async function checkEnd(end: Header & { kind: "end" }, { need, sum, sums, entries, file }: EndCheck) {
  if (!sum.digest().equals(await need(SUM_BYTES))) throw badArchive(file, "the sum of its end is wrong");
  if (end.entries !== entries || end.sha256 !== sums.digest().toString("hex"))
    throw badArchive(file, "entries of it are missing or not its own");
}

/** Pieces come in the order of their offsets and stay within the file's size. */
async function* piecesOf(
  header: EntryHeader,
  { need, sum, file }: { readonly need: Need; readonly sum: EntrySum; readonly file: string },
): AsyncGenerator<Piece> {
  if (header.kind !== "file") return;
  for (let end = 0; ; ) {
    const head = sum.add(await need(12));
    const [length, offset] = [head.readUInt32LE(0), Number(head.readBigUInt64LE(4))];
    if (length === 0) return;
    if (length > MAX_PIECE_BYTES || offset < end || offset + length > header.size)
      throw badArchive(file, `a piece of ${header.path} lies outside of it`);
    yield { offset, bytes: sum.add(await need(length)) };
    end = offset + length;
  }
}
