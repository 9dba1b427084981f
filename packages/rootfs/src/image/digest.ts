import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { RootfsError, systemCode } from "../errors.js";
import { writeAtomically } from "../files.js";

const CHUNK_BYTES = 1 << 20;

/**
 * A file whose last change is younger than this is hashed but not cached. The kernel stamps changes
 * with a clock of up to 10 ms a tick, so a change in the same tick as the hash would leave no trace.
 */
const SETTLED_NS = 1_000_000_000n;

/** What tells one state of a file from another without reading it. Times in nanoseconds. */
export interface FileIdentity {
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

export interface DigestProgress {
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export interface DigestOptions {
  /** Folder of the cache, made if missing. Default: no cache. */
  readonly cacheDir?: string;
  /** Called after each MiB. */
  readonly onProgress?: (progress: DigestProgress) => void;
}

export interface ImageDigest {
  /** 64 lower-case hex digits. */
  readonly sha256: string;
  readonly bytes: number;
  /** True when the answer came from the cache. */
  readonly cached: boolean;
  readonly identity: FileIdentity;
}

/**
 * The sha256 of an image file, read in chunks of 1 MiB.
 *
 * With `cacheDir` the answer is kept under the file's device, inode, size, mtime and ctime. ctime cannot
 * be set back by a program, so a rewritten, replaced or touched file is hashed anew. (Writes through a
 * mapping that was dirty before the hash began are the one thing stat cannot show.)
 *
 * @throws RootfsError NO_SUCH_IMAGE, NOT_A_FILE, IMAGE_CHANGED (changed while it was read)
 */
export async function digestImage(path: string, options: DigestOptions = {}): Promise<ImageDigest> {
  const file = await openImage(path);
  try {
    const before = identityOf(await file.stat({ bigint: true }));
    const known = options.cacheDir && (await readCached(options.cacheDir, before));
    if (known) return { sha256: known, bytes: Number(before.size), cached: true, identity: before };
    const startedNs = BigInt(Date.now()) * 1_000_000n;
    const sha256 = await hashFile(file, Number(before.size), options.onProgress);
    const after = identityOf(await file.stat({ bigint: true }));
    if (!sameIdentity(before, after)) throw changed(path);
    if (options.cacheDir && startedNs - newest(before) > SETTLED_NS)
      await writeCached(options.cacheDir, before, sha256);
    return { sha256, bytes: Number(before.size), cached: false, identity: before };
  } finally {
    await file.close();
  }
}

/**
 * As digestImage, and refuses the file when its sha256 is not the expected one.
 *
 * @throws RootfsError IMAGE_DIGEST_MISMATCH with facts `expected` and `found`
 */
export async function verifyImage(
  path: string,
  options: DigestOptions & { readonly expected: string },
): Promise<ImageDigest> {
  const expected = options.expected.toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(expected))
    throw new RootfsError("IMAGE_DIGEST_MISMATCH", `"${options.expected}" is not a sha256`, {
      path,
      hint: "Give the sha256 as 64 hex digits, as sha256sum prints it.",
    });
  const digest = await digestImage(path, options);
  if (digest.sha256 === expected) return digest;
  throw new RootfsError(
    "IMAGE_DIGEST_MISMATCH",
    `${path} has sha256 ${digest.sha256}, but ${expected} was expected`,
    {
      path,
      hint: "This is not the file that was pinned: fetch it again, or pin the new sha256 if the change was meant.",
      facts: { expected, found: digest.sha256, bytes: digest.bytes },
    },
  );
}

/** The identity in a stat result taken with `bigint: true`. */
export function identityOf(stats: BigIntStats): FileIdentity {
  return {
    device: stats.dev,
    inode: stats.ino,
    size: stats.size,
    mtimeNs: stats.mtimeNs,
    ctimeNs: stats.ctimeNs,
  };
}

/** Whether two identities are those of the same, unchanged file. */
export function sameIdentity(a: FileIdentity, b: FileIdentity): boolean {
  return identityKey(a) === identityKey(b);
}

/** An identity as one line, for keys and records. */
export function identityKey({ device, inode, size, mtimeNs, ctimeNs }: FileIdentity): string {
  return [device, inode, size, mtimeNs, ctimeNs].join(":");
}

/** Opens a regular file for reading; never waits on a FIFO, never follows into a device. */
export async function openImage(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw new RootfsError("NO_SUCH_IMAGE", `cannot open the image ${path}: ${systemCode(error) ?? error}`, {
      path,
      hint: "Check the path and that this user may read it.",
      cause: error,
    });
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new RootfsError("NOT_A_FILE", `${path} is not a regular file`, {
    path,
    hint: "Give the image file itself, not a folder, device or socket.",
  });
}

async function hashFile(
  file: FileHandle,
  bytesTotal: number,
  onProgress: DigestOptions["onProgress"],
): Promise<string> {
  const hash = createHash("sha256");
  let bytesDone = 0;
  // The stream reads ahead in the thread pool while this thread hashes.
  const stream = file.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES });
  for await (const chunk of stream) {
    hash.update(chunk as Buffer);
    bytesDone += (chunk as Buffer).length;
    onProgress?.({ bytesDone, bytesTotal });
  }
  return hash.digest("hex");
}

const cacheEntrySchema = z.object({
  version: z.literal(1),
  identity: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

function cacheFile(cacheDir: string, { device, inode }: FileIdentity): string {
  return join(cacheDir, `sha256-${device}-${inode}.json`);
}

async function readCached(cacheDir: string, identity: FileIdentity): Promise<string | undefined> {
  try {
    const text = await readFile(cacheFile(cacheDir, identity), "utf8");
    const entry = cacheEntrySchema.parse(JSON.parse(text));
    return entry.identity === identityKey(identity) ? entry.sha256 : undefined;
  } catch {
    // A cache that cannot be read costs a hash, nothing more.
    return undefined;
  }
}

async function writeCached(cacheDir: string, identity: FileIdentity, sha256: string): Promise<void> {
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const entry = { version: 1, identity: identityKey(identity), sha256 } as const;
  await writeAtomically(cacheFile(cacheDir, identity), `${JSON.stringify(entry)}\n`);
}

function newest({ mtimeNs, ctimeNs }: FileIdentity): bigint {
  return mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
}

function changed(path: string): RootfsError {
  return new RootfsError("IMAGE_CHANGED", `${path} changed while it was being read`, {
    path,
    hint: "Stop whatever writes to the image (a virtual machine, a download) and try again.",
  });
}
