import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import type { Duplex, Readable } from "node:stream";
import { execa } from "execa";
import { codeOf, DrumsError, EXIT } from "../../errors.js";

/** RFC 8878: the first bytes of a zstd frame. */
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Packs what is written to it. The host's zstd does it: Node 20 has none. */
export function packer(): Duplex {
  const zstd = execa("zstd", ["-q", "-3", "-T0", "-c"], { encoding: "buffer", buffer: false });
  zstd.catch(() => {});
  return zstd.duplex();
}

/** A file's bytes, unpacked where it is packed. The caller destroys it. */
export async function unpacked(path: string): Promise<Readable> {
  if (!(await isPacked(path))) return createReadStream(path, { highWaterMark: 1 << 20 });
  const zstd = execa("zstd", ["-q", "-d", "-c", "--", path], { encoding: "buffer", buffer: false });
  zstd.catch(() => {});
  return zstd.readable();
}

async function isPacked(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { buffer } = await file.read(Buffer.alloc(ZSTD_MAGIC.length), 0, ZSTD_MAGIC.length, 0);
    return buffer.equals(ZSTD_MAGIC);
  } finally {
    await file.close();
  }
}

/** What a failure of zstd means to a person; anything else is given back as it is. */
export function zstdError(error: unknown, whenItFails: (why: string) => Error): unknown {
  if (!(error instanceof Error) || !("shortMessage" in error)) return error;
  if (codeOf(error) !== "ENOENT") return whenItFails(String(error.shortMessage));
  return new DrumsError({
    code: "NO_ZSTD",
    exitCode: EXIT.blocker,
    what: "zstd is not on PATH, and this archive is packed or to be packed with it",
    hint: "apt-get install zstd, or export without --zstd",
    cause: error,
  });
}
