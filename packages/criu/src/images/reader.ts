import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { CriuError } from "../errors.js";

/*
 * An image file: magic numbers of four bytes, then entries, each a length of four bytes and a protobuf message
 * (criu/include/magic.h, criu/protobuf.c). All numbers are little-endian. An image may come from anybody: its size,
 * its lengths and its kind are bounded and checked before anything is allocated for them.
 */

/** criu/include/magic.h: the first number of every image but the inventory. */
const COMMON_MAGIC = 0x54564319;

/** The second number of the kinds that are read here. */
export const MAGIC = {
  pstree: 0x50273030,
  core: 0x55053847,
  ids: 0x54432030,
  fdinfo: 0x56213732,
  files: 0x56303138,
  mm: 0x57492820,
  pagemap: 0x56084025,
  mnts: 0x55563928,
  userns: 0x55474906,
  memfd: 0x48453499,
} as const;

/** The largest image that is read whole. A tree of a thousand processes with a thousand mappings each stays below. */
export const MAX_IMAGE_BYTES = 64 << 20;

/**
 * Parses an image of one kind of entry.
 * @param where named in errors
 * @throws {CriuError} `IMAGE_INVALID`
 */
export function parseImage<Desc extends DescMessage>(
  image: Buffer,
  { schema, magic, where }: { readonly schema: Desc; readonly magic: number; readonly where: string },
): MessageShape<Desc>[] {
  return entriesOf(image, { magic, where }).map((bytes) => decode(schema, bytes, where));
}

/** The entries of an image as bytes. @throws {CriuError} `IMAGE_INVALID` */
export function entriesOf(
  image: Buffer,
  { magic, where }: { readonly magic: number; readonly where: string },
): Buffer[] {
  if (image.length < 8 || image.readUInt32LE(0) !== COMMON_MAGIC || image.readUInt32LE(4) !== magic)
    throw invalid(where, "its magic numbers are not those of this kind of image");
  const entries: Buffer[] = [];
  for (let at = 8; at < image.length; ) {
    if (at + 4 > image.length) throw invalid(where, `it ends inside a length at byte ${at}`);
    const length = image.readUInt32LE(at);
    if (length > image.length - at - 4)
      throw invalid(where, `an entry of ${length} bytes at byte ${at} reaches beyond its end`);
    entries.push(image.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return entries;
}

/** One message. @throws {CriuError} `IMAGE_INVALID` */
export function decode<Desc extends DescMessage>(
  schema: Desc,
  bytes: Uint8Array,
  where: string,
): MessageShape<Desc> {
  try {
    return fromBinary(schema, bytes, { readUnknownFields: false });
  } catch (cause) {
    throw invalid(where, "an entry is no message of its kind", cause);
  }
}

/**
 * Reads an image file by name, a regular file of bounded size; no link is followed. Undefined where there is none.
 * @throws {CriuError} `IMAGE_INVALID`
 */
export async function readImageFile(folder: string, name: string): Promise<Buffer | undefined> {
  const path = join(folder, name);
  const file = await openPlain(path);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw invalid(path, "it is no regular file");
    if (stats.size > MAX_IMAGE_BYTES) throw invalid(path, `it has ${stats.size} bytes`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function openPlain(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT") return undefined;
    throw invalid(path, code === "ELOOP" ? "it is a link" : "it cannot be read", cause);
  }
}

/** Reads and parses an image; undefined where there is none. @throws {CriuError} `IMAGE_INVALID` */
export async function readImage<Desc extends DescMessage>(
  folder: string,
  name: string,
  { schema, magic }: { readonly schema: Desc; readonly magic: number },
): Promise<MessageShape<Desc>[] | undefined> {
  const image = await readImageFile(folder, name);
  return image && parseImage(image, { schema, magic, where: join(folder, name) });
}

/** The same for an image that every dump has. @throws {CriuError} `IMAGE_INVALID` */
export async function readNeededImage<Desc extends DescMessage>(
  folder: string,
  name: string,
  kind: { readonly schema: Desc; readonly magic: number },
): Promise<MessageShape<Desc>[]> {
  const entries = await readImage(folder, name, kind);
  if (entries === undefined) throw invalid(join(folder, name), "it is missing");
  return entries;
}

/** The error of an image that cannot be trusted. */
export function invalid(where: string, why: string, cause?: unknown): CriuError {
  return new CriuError("IMAGE_INVALID", `${where} is no sound CRIU image: ${why}`, {
    hint: "The checkpoint is damaged or was made by something else: import it again, or make it again",
    facts: { path: where },
    cause,
  });
}
