import { readFile } from "node:fs/promises";
import { RootfsError } from "../errors.js";
import { resolveInRoot } from "../resolve.js";
import { statInside } from "./inside.js";

/*
 * The layout is that of glibc's sysdeps/generic/dl-cache.h: "new" entries, alone in the file or behind
 * the old format's, and the extension that names glibc-hwcaps folders.
 */
const CACHE_PATH = "/etc/ld.so.cache";
const NEW_MAGIC = "glibc-ld.so.cache1.1";
const OLD_MAGIC = "ld.so-1.7.0\0";
const MAX_CACHE_BYTES = 16 << 20;
const HEADER_BYTES = 48;
const ENTRY_BYTES = 24;
const OLD_ENTRY_BYTES = 12;
const EXTENSION_MAGIC = -358342284 >>> 0;
const HWCAPS_SECTION = 1;
const MAX_SECTIONS = 64;
/** DL_CACHE_HWCAP_EXTENSION, seen without the ISA level in the ten bits above the index. */
const NAMED_HWCAP = 1n << 62n;
const ISA_LEVEL = 0x3ffn << 32n;

/** A library that ldconfig found. */
export interface CacheEntry {
  /** The soname that is asked for. */
  readonly name: string;
  readonly path: string;
  /** ABI: 0x303 is libc6 on x86-64, 0xa03 on aarch64. */
  readonly flags: number;
  /** The glibc-hwcaps folder that it came from, "x86-64-v3"; absent for an ordinary one. */
  readonly hwcap?: string;
}

/**
 * Reads an ld.so.cache in glibc's new format. Entries of the hwcap folders of old (before glibc 2.33)
 * are left out: this reader knows no processor that would choose them.
 *
 * @throws RootfsError BAD_CACHE
 */
export function parseLoaderCache(file: Buffer): CacheEntry[] {
  const cache = newPart(file);
  const count = cache.readUInt32LE(20);
  if (HEADER_BYTES + count * ENTRY_BYTES > cache.length) throw bad(`it ends before its ${count} entries`);
  const hwcaps = hwcapNames(cache);
  const entries: CacheEntry[] = [];
  for (let index = 0; index < count; index++) {
    const at = HEADER_BYTES + index * ENTRY_BYTES;
    const bits = cache.readBigUInt64LE(at + 16);
    const named = (bits & ~ISA_LEVEL) >> 32n === NAMED_HWCAP >> 32n;
    const hwcap = named ? hwcaps[Number(bits & 0xffffffffn)] : undefined;
    if (bits !== 0n && hwcap === undefined) continue;
    entries.push({
      flags: cache.readUInt32LE(at),
      name: stringAt(cache, cache.readUInt32LE(at + 4)),
      path: stringAt(cache, cache.readUInt32LE(at + 8)),
      ...(hwcap === undefined ? {} : { hwcap }),
    });
  }
  return entries;
}

/**
 * The entries of a root's /etc/ld.so.cache; none where it has no cache.
 *
 * @throws RootfsError BAD_CACHE
 */
export async function readLoaderCache(root: string): Promise<CacheEntry[]> {
  // Looked at before it is opened: a FIFO there would hold the reader for ever.
  const stats = await statInside(root, CACHE_PATH);
  if (!stats) return [];
  if (!stats.isFile() || stats.size > MAX_CACHE_BYTES)
    throw bad(`it is no file, or takes ${stats.size} bytes`);
  return parseLoaderCache(await readFile((await resolveInRoot(root, CACHE_PATH)).host));
}

function newPart(file: Buffer): Buffer {
  let cache = file;
  if (file.toString("latin1", 0, OLD_MAGIC.length) === OLD_MAGIC && file.length >= 16) {
    const end = 16 + file.readUInt32LE(12) * OLD_ENTRY_BYTES;
    cache = file.subarray(Math.ceil(end / 8) * 8);
  }
  if (cache.length < HEADER_BYTES || cache.toString("latin1", 0, NEW_MAGIC.length) !== NEW_MAGIC)
    throw bad("it is not in the format of glibc 2.2 or later");
  // 0 and 2: not said, and little-endian (cache_file_new_flags_endian_*).
  const order = cache.readUInt8(28) & 3;
  if (order !== 0 && order !== 2) throw bad("it is not little-endian");
  return cache;
}

function hwcapNames(cache: Buffer): string[] {
  const start = cache.readUInt32LE(32);
  if (start === 0) return [];
  if (start + 8 > cache.length || cache.readUInt32LE(start) !== EXTENSION_MAGIC) return [];
  const sections = cache.readUInt32LE(start + 4);
  if (sections > MAX_SECTIONS || start + 8 + sections * 16 > cache.length)
    throw bad("its extension is cut short");
  for (let at = start + 8; at < start + 8 + sections * 16; at += 16) {
    if (cache.readUInt32LE(at) !== HWCAPS_SECTION) continue;
    const [offset, bytes] = [cache.readUInt32LE(at + 8), cache.readUInt32LE(at + 12)];
    if (offset + bytes > cache.length) throw bad("its list of hwcaps is cut short");
    return Array.from({ length: Math.floor(bytes / 4) }, (_, index) =>
      stringAt(cache, cache.readUInt32LE(offset + index * 4)),
    );
  }
  return [];
}

function stringAt(cache: Buffer, offset: number): string {
  const end = cache.indexOf(0, offset);
  if (offset >= cache.length || end < 0) throw bad(`a string at ${offset} has no end`);
  return cache.toString("utf8", offset, end);
}

function bad(why: string): RootfsError {
  return new RootfsError("BAD_CACHE", `the loader's cache cannot be read: ${why}`, {
    path: CACHE_PATH,
    hint: "Run `ldconfig -r ROOT` on the image, or remove the file: the loader goes without.",
  });
}
