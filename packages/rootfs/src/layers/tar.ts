import { ByteSource } from "../byte-source.js";
import { RootfsError } from "../errors.js";

const BLOCK_BYTES = 512;
/** Long names and pax headers are small; more is an attack on memory. */
const MAX_META_BYTES = 64 << 10;

export type TarKind = "file" | "hardlink" | "symlink" | "device" | "folder" | "other";

export interface TarEntry {
  /** As written in the archive. */
  readonly name: string;
  readonly kind: TarKind;
  /** Permission bits with set-user-id and sticky. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  /** Seconds since 1970. */
  readonly mtime: number;
  readonly linkName: string;
  /** A file's bytes; what is not read is skipped before the next entry. */
  content(): AsyncGenerator<Buffer>;
}

const KINDS: Readonly<Record<string, TarKind>> = {
  "\0": "file",
  "0": "file",
  "7": "file",
  "1": "hardlink",
  "2": "symlink",
  "3": "device",
  "4": "device",
  "5": "folder",
};

/**
 * Reads a tar archive as dpkg writes it: ustar, with GNU long names and pax `path` and `linkpath`.
 * Every header's checksum is verified. Names are given as they are: the caller decides what is safe. The stream is read
 * to its end, past the archive's own, so that whoever writes it can finish.
 *
 * @throws RootfsError DEB_UNREADABLE
 */
export async function* readTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const source = new ByteSource(chunks);
  const long: { name?: string; linkName?: string } = {};
  for (;;) {
    const header = await source.take(BLOCK_BYTES);
    if (header.length < BLOCK_BYTES) throw unreadable("it ends without its closing block");
    if (header.every((byte) => byte === 0)) return drain(source);
    verifyChecksum(header);
    const size = numberAt(header, 124, 12);
    const type = header.toString("latin1", 156, 157);
    if (type === "L" || type === "K" || type === "x" || type === "g") {
      const meta = await readMeta(source, size);
      if (type === "L") long.name = untilNul(meta);
      if (type === "K") long.linkName = untilNul(meta);
      if (type === "x") Object.assign(long, parsePax(meta));
      continue;
    }
    yield* entryOf(source, header, type, long);
    delete long.name;
    delete long.linkName;
  }
}

async function drain(source: ByteSource): Promise<void> {
  while ((await source.some(BLOCK_BYTES)).length > 0);
}

async function* entryOf(
  source: ByteSource,
  header: Buffer,
  type: string,
  long: { readonly name?: string; readonly linkName?: string },
): AsyncGenerator<TarEntry> {
  const kind = KINDS[type] ?? "other";
  const size = kind === "file" ? numberAt(header, 124, 12) : 0;
  const prefix = header.toString("latin1", 257, 263) === "ustar\0" ? untilNul(header.subarray(345, 500)) : "";
  const short = untilNul(header.subarray(0, 100));
  let left = size;
  const content = async function* () {
    while (left > 0) {
      const bytes = await source.some(left);
      if (bytes.length === 0) throw unreadable("it ends inside a file");
      left -= bytes.length;
      yield bytes;
    }
  };
  yield {
    name: long.name ?? (prefix ? `${prefix}/${short}` : short),
    kind,
    mode: numberAt(header, 100, 8) & 0o7777,
    uid: numberAt(header, 108, 8),
    gid: numberAt(header, 116, 8),
    size,
    mtime: numberAt(header, 136, 12),
    linkName: long.linkName ?? untilNul(header.subarray(157, 257)),
    content,
  };
  for await (const _ of content());
  await source.take(padding(size));
}

async function readMeta(source: ByteSource, size: number): Promise<Buffer> {
  if (size > MAX_META_BYTES) throw unreadable(`a name of ${size} bytes`);
  const meta = await source.take(size);
  await source.take(padding(size));
  return meta;
}

/** Records of "LENGTH KEY=VALUE\n". */
function parsePax(meta: Buffer): { name?: string; linkName?: string } {
  const found: { name?: string; linkName?: string } = {};
  for (let at = 0; at < meta.length; ) {
    const space = meta.indexOf(" ", at);
    const length = Number(meta.toString("latin1", at, space));
    if (space < 0 || !Number.isInteger(length) || length <= space - at || at + length > meta.length)
      throw unreadable("a pax record is malformed");
    const [key, ...value] = meta.toString("utf8", space + 1, at + length - 1).split("=");
    if (key === "path") found.name = value.join("=");
    if (key === "linkpath") found.linkName = value.join("=");
    // A size or an owner from here would have to be obeyed; dpkg writes neither.
    if (key === "size" || key === "uid" || key === "gid") throw unreadable(`a pax record sets ${key}`);
    at += length;
  }
  return found;
}

function verifyChecksum(header: Buffer): void {
  let sum = 0;
  for (const [index, byte] of header.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte;
  if (sum !== numberAt(header, 148, 8)) throw unreadable("a header's checksum is wrong");
}

/** Octal text, or with the top bit set a big-endian number (GNU). */
function numberAt(header: Buffer, offset: number, length: number): number {
  const field = header.subarray(offset, offset + length);
  if ((field[0] ?? 0) & 0x80) {
    const value = BigInt(`0x${field.toString("hex")}`) & ((1n << BigInt(length * 8 - 1)) - 1n);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw unreadable("a number in a header is too large");
    return Number(value);
  }
  const text = untilNul(field).trim();
  if (!/^[0-7]*$/.test(text)) throw unreadable("a number in a header is not octal");
  return text === "" ? 0 : Number.parseInt(text, 8);
}

function untilNul(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString("utf8", 0, end < 0 ? bytes.length : end);
}

function padding(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}

function unreadable(why: string): RootfsError {
  return new RootfsError("DEB_UNREADABLE", `the package's archive cannot be read: ${why}`, {
    hint: "Fetch the package again; its pinned sha256 tells whether it is the right one.",
  });
}
