import { inflateRawSync } from "node:zlib";
import { RootfsError } from "../errors.js";
import { crc32 } from "../image/crc32.js";

/*
 * Offsets are those of PKWARE's APPNOTE.TXT. The central directory alone says what is in the archive; what
 * ZIP64, encryption or several disks would need is refused.
 */
const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const MAX_COMMENT = 0xffff;
const MAX_ENTRIES = 20_000;
const MAX_ENTRY_BYTES = 256 << 20;
const MAX_TOTAL_BYTES = 1 << 30;

export interface ZipEntry {
  /** As written in the archive. */
  readonly name: string;
  /** Permission bits, where the archive was made on Unix; else 0. */
  readonly mode: number;
  /** A link, device or other thing that is neither file nor folder. */
  readonly special: boolean;
  /** The content, its checksum verified. */
  content(): Buffer;
}

/**
 * Reads a zip archive that is held in memory. Names are given as they are: the caller decides what is safe.
 *
 * @throws RootfsError WHEEL_UNREADABLE, also from `content`
 */
export function readZip(archive: Buffer): ZipEntry[] {
  const end = findEnd(archive);
  const [count, size, start] = [
    archive.readUInt16LE(end + 10),
    archive.readUInt32LE(end + 12),
    archive.readUInt32LE(end + 16),
  ];
  if (count > MAX_ENTRIES || start + size > end) throw unreadable("its directory does not lie in the file");
  const entries: ZipEntry[] = [];
  let [at, total] = [start, 0];
  for (let index = 0; index < count; index++) {
    if (at + 46 > end || archive.readUInt32LE(at) !== CENTRAL) throw unreadable("its directory is damaged");
    const nameBytes = archive.readUInt16LE(at + 28);
    total += archive.readUInt32LE(at + 24);
    if (total > MAX_TOTAL_BYTES) throw unreadable("its content takes more than 1 GiB");
    entries.push(entryAt(archive, at, archive.toString("utf8", at + 46, at + 46 + nameBytes)));
    at += 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
}

function findEnd(archive: Buffer): number {
  for (let at = archive.length - 22; at >= 0 && at >= archive.length - 22 - MAX_COMMENT; at--)
    if (archive.readUInt32LE(at) === END) return at;
  throw unreadable("it has no end record");
}

function entryAt(archive: Buffer, at: number, name: string): ZipEntry {
  const unix = archive.readUInt8(at + 5) === 3;
  const attributes = unix ? archive.readUInt32LE(at + 38) >>> 16 : 0;
  const kind = attributes & 0o170000;
  return {
    name,
    mode: attributes & 0o777,
    special: kind !== 0 && kind !== 0o100000 && kind !== 0o040000,
    content: () => contentOf(archive, at, name),
  };
}

function contentOf(archive: Buffer, at: number, name: string): Buffer {
  const [flags, method] = [archive.readUInt16LE(at + 8), archive.readUInt16LE(at + 10)];
  const [checksum, packed, size] = [16, 20, 24].map((field) => archive.readUInt32LE(at + field)) as [
    number,
    number,
    number,
  ];
  const local = archive.readUInt32LE(at + 42);
  if (flags & 1) throw unreadable(`${name} is encrypted`);
  if (size > MAX_ENTRY_BYTES) throw unreadable(`${name} takes ${size} bytes`);
  if (local + 30 > archive.length || archive.readUInt32LE(local) !== LOCAL)
    throw unreadable(`${name} has no header`);
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const bytes = archive.subarray(start, start + packed);
  const content = method === 0 ? bytes : method === 8 ? inflate(bytes, size, name) : undefined;
  if (content === undefined) throw unreadable(`${name} is packed by method ${method}`);
  if (content.length !== size || crc32(content) !== checksum) throw unreadable(`${name}'s checksum is wrong`);
  return content;
}

/** Never more than was announced, whatever the packed bytes unfold to. */
function inflate(bytes: Buffer, size: number, name: string): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: Math.max(size, 1) });
  } catch (cause) {
    throw unreadable(`${name} cannot be unpacked`, cause);
  }
}

function unreadable(why: string, cause?: unknown): RootfsError {
  return new RootfsError("WHEEL_UNREADABLE", `the wheel cannot be read: ${why}`, {
    hint: "Fetch it again; its pinned sha256 tells whether it is the right one.",
    cause,
  });
}
