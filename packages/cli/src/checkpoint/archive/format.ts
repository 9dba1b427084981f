import { createHash, type Hash } from "node:crypto";
import { z } from "zod";
import { DrumsError, EXIT } from "../../errors.js";

/*
 * A checkpoint as one file, described in docs/checkpoints.md: a line that names the format, then entries. An entry is
 * a header (its length in four bytes, then JSON), for a file its content in pieces (length in four bytes, offset in
 * eight, bytes; a length of zero ends them, what lies between pieces is zero), and the sha256 of all that. The last
 * entry counts the others and has the sha256 of their sums. Numbers are little-endian.
 */

/** The first bytes of an archive. */
export const MAGIC = Buffer.from("drums checkpoint archive 1\n");
/** A header holds a path and extended attributes, each of which the kernel bounds at 64 KiB. */
export const MAX_HEADER_BYTES = 1 << 20;
/** Content comes in pieces of at most so many bytes. */
export const MAX_PIECE_BYTES = 1 << 20;
/** sha256 */
export const SUM_BYTES = 32;
/** PATH_MAX of limits.h */
const MAX_PATH = 4096;

/** Bytes as text: a character a byte, so that names that are no UTF-8 are kept. */
export const bytesOf = (text: string) => Buffer.from(text, "latin1");
export const textOf = (bytes: Buffer) => bytes.toString("latin1");

const path = z
  .string()
  .min(1)
  .max(MAX_PATH)
  .refine((text) => !text.includes("\0") && text.split("/").every(isPlainName), "is no plain relative path");

function isPlainName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && name.length <= 255;
}

const id = z.int().min(0).max(0xffff_ffff);
const attributes = {
  path,
  mode: z.int().min(0).max(0o7777),
  uid: id,
  gid: id,
  /** Milliseconds since 1970. */
  mtimeMs: z.number(),
  /** Values in base64. */
  xattrs: z.record(z.string().max(255), z.base64()),
};

/** The header of an entry. */
export const headerSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("folder"), ...attributes }),
  z.strictObject({ kind: z.literal("file"), ...attributes, size: z.int().nonnegative() }),
  z.strictObject({ kind: z.literal("symlink"), ...attributes, target: z.string().min(1).max(MAX_PATH) }),
  /** Another name of a file that came before. */
  z.strictObject({ kind: z.literal("link"), path, to: path }),
  z.strictObject({ kind: z.literal("fifo"), ...attributes }),
  z.strictObject({ kind: z.literal("socket"), ...attributes }),
  /** overlayfs: a name of a lower layer that is gone, a character device 0:0. */
  z.strictObject({ kind: z.literal("whiteout"), ...attributes }),
  z.strictObject({ kind: z.literal("end"), entries: z.int(), sha256: z.hex() }),
]);

export type Header = z.infer<typeof headerSchema>;
/** All but the last. */
export type EntryHeader = Exclude<Header, { kind: "end" }>;

/** Sums up one entry while it is written or read. */
export class EntrySum {
  readonly #hash: Hash = createHash("sha256");

  add<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
    this.#hash.update(bytes);
    return bytes;
  }

  digest(): Buffer {
    return this.#hash.digest();
  }
}

/** The error of a file that is no sound archive. Nothing of it is left. */
export function badArchive(file: string, why: string, cause?: unknown): DrumsError {
  return new DrumsError({
    code: "ARCHIVE_INVALID",
    exitCode: EXIT.usage,
    what: "this is no sound checkpoint archive",
    where: file,
    why,
    hint: "export the checkpoint again and copy the file whole; nothing of it was kept here",
    cause,
  });
}
