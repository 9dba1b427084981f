import type { BigIntStats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";

/** Something below a folder. Paths are bytes: a name need not be UTF-8, and a session chooses its names. */
export interface TreeEntry {
  /** Relative to the folder. */
  readonly path: Buffer;
  readonly host: Buffer;
  readonly stats: BigIntStats;
}

/** Everything below a folder, each folder before its content, siblings in the order of their bytes. No link is followed. */
export async function* walkTree(folder: string): AsyncGenerator<TreeEntry> {
  yield* walk(Buffer.from(folder), Buffer.alloc(0));
}

async function* walk(host: Buffer, relative: Buffer): AsyncGenerator<TreeEntry> {
  const names = (await readdir(host, { encoding: "buffer" })).sort(Buffer.compare);
  for (const name of names) {
    const child = Buffer.concat([host, Buffer.from("/"), name]);
    const path = relative.length === 0 ? name : Buffer.concat([relative, Buffer.from("/"), name]);
    const stats = await lstat(child, { bigint: true });
    yield { path, host: child, stats };
    if (stats.isDirectory()) yield* walk(child, path);
  }
}
