import type { BigIntStats } from "node:fs";
import { type FileHandle, lstat, open, readlink } from "node:fs/promises";
import { sys } from "@drums/nsexec";
import { type TreeEntry, walkTree } from "@drums/rootfs";
import { DrumsError, EXIT } from "../../errors.js";
import {
  bytesOf,
  type EntryHeader,
  EntrySum,
  type Header,
  MAGIC,
  MAX_PIECE_BYTES,
  textOf,
} from "./format.js";

/** A folder or file of the host and its path in the archive. */
export interface ArchiveSource {
  readonly host: string;
  readonly path: string;
}

/** Runs of zero bytes of this size are left out of the archive and are holes when it is read. */
const HOLE_BYTES = 1 << 16;
const ZEROS = Buffer.alloc(HOLE_BYTES);

/** The bytes of an archive of these sources, in order. Throws DrumsError ARCHIVE_UNSUPPORTED. */
export async function* archiveOf(sources: readonly ArchiveSource[]): AsyncGenerator<Buffer> {
  const sums = new EntrySum();
  let entries = 0;
  yield MAGIC;
  for (const source of sources)
    for await (const { host, header } of headersOf(source)) {
      const sum = new EntrySum();
      yield sum.add(headerBytes(header));
      if (header.kind === "file") for await (const bytes of piecesOf(host, header.size)) yield sum.add(bytes);
      yield sums.add(sum.digest());
      entries += 1;
    }
  const end = headerBytes({ kind: "end", entries, sha256: sums.digest().toString("hex") });
  const sum = new EntrySum();
  yield sum.add(end);
  yield sum.digest();
}

function headerBytes(header: Header): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json]);
}

/** A source itself and all that is below it. */
async function* headersOf(source: ArchiveSource): AsyncGenerator<{ host: Buffer; header: EntryHeader }> {
  const base = bytesOf(source.path);
  const host = Buffer.from(source.host);
  const stats = await lstat(host, { bigint: true });
  const firstNames = new Map<bigint, string>();
  yield { host, header: await headerOf({ path: base, host, stats }, firstNames) };
  if (!stats.isDirectory()) return;
  for await (const entry of walkTree(source.host)) {
    const path = Buffer.concat([base, Buffer.from("/"), entry.path]);
    yield { host: entry.host, header: await headerOf({ ...entry, path }, firstNames) };
  }
}

async function headerOf(entry: TreeEntry, firstNames: Map<bigint, string>): Promise<EntryHeader> {
  const { stats, host } = entry;
  const path = textOf(entry.path);
  const first = stats.isDirectory() ? undefined : firstNames.get(stats.ino);
  if (first !== undefined) return { kind: "link", path, to: first };
  if (!stats.isDirectory() && stats.nlink > 1n) firstNames.set(stats.ino, path);
  const attributes = {
    path,
    mode: Number(stats.mode) & 0o7777,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    mtimeMs: Number(stats.mtimeNs) / 1e6,
    xattrs: xattrsOf(host),
  };
  if (stats.isFile()) return { kind: "file", ...attributes, size: Number(stats.size) };
  if (stats.isSymbolicLink())
    return { kind: "symlink", ...attributes, target: textOf(await readlink(host, { encoding: "buffer" })) };
  return { kind: specialKind(stats, path), ...attributes };
}

function specialKind(stats: BigIntStats, path: string): "folder" | "fifo" | "socket" | "whiteout" {
  if (stats.isDirectory()) return "folder";
  if (stats.isFIFO()) return "fifo";
  if (stats.isSocket()) return "socket";
  if (stats.isCharacterDevice() && stats.rdev === 0n) return "whiteout";
  throw new DrumsError({
    code: "ARCHIVE_UNSUPPORTED",
    exitCode: EXIT.usage,
    what: "a device node cannot be exported",
    where: path,
    why: "an import makes no devices",
    hint: "remove it in the session and make the checkpoint again",
  });
}

/** The system call wrapper takes text: a name that is no UTF-8 goes without its attributes, as in a layer's digest. */
function xattrsOf(host: Buffer): Record<string, string> {
  const path = host.toString("utf8");
  if (!Buffer.from(path).equals(host)) return {};
  const names = sys.llistxattr(path).sort();
  return Object.fromEntries(names.map((name) => [name, sys.lgetxattr(path, name).toString("base64")]));
}

/** A file's content: runs of data with their offsets, then an empty one. A file that shrinks meanwhile is an error. */
async function* piecesOf(host: Buffer, size: number): AsyncGenerator<Buffer> {
  const file = await open(host, sys.O.O_RDONLY | sys.O.O_NOFOLLOW);
  try {
    for (let offset = 0; offset < size; ) {
      const bytes = await readAt(file, offset, Math.min(MAX_PIECE_BYTES, size - offset));
      for (const [start, end] of dataRuns(bytes))
        yield Buffer.concat([pieceHead(end - start, offset + start), bytes.subarray(start, end)]);
      offset += bytes.length;
    }
    yield pieceHead(0, size);
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(bytes, 0, length, offset);
  if (bytesRead > 0) return bytes.subarray(0, bytesRead);
  throw new DrumsError({ code: "EXPORT_FAILED", what: "a file became shorter while it was exported" });
}

/** Where a buffer holds anything but whole blocks of zeros. */
export function dataRuns(bytes: Buffer): [start: number, end: number][] {
  const runs: [number, number][] = [];
  for (let start = 0; start < bytes.length; start += HOLE_BYTES) {
    const end = Math.min(start + HOLE_BYTES, bytes.length);
    if (bytes.subarray(start, end).equals(ZEROS.subarray(0, end - start))) continue;
    const last = runs.at(-1);
    if (last?.[1] === start) last[1] = end;
    else runs.push([start, end]);
  }
  return runs;
}

function pieceHead(length: number, offset: number): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(length, 0);
  head.writeBigUInt64LE(BigInt(offset), 4);
  return head;
}
