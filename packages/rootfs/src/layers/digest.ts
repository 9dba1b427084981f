import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readlink } from "node:fs/promises";
import { sys } from "@drums/nsexec";
import { type TreeEntry, walkTree } from "../walk.js";

/** A read-only folder for an overlay. */
export interface Layer {
  readonly path: string;
  /** See digestLayer. */
  readonly digest: string;
  /** Entries of all kinds below the folder. */
  readonly files: number;
}

/**
 * The sha256 of a layer's canonical listing: for each entry, in the order of its path's bytes, kind, mode,
 * owner, content (sha256, link target, device number, or the first name of a hard link), extended
 * attributes and path. Times are left out: they differ between two unpackings of the same packages.
 */
export async function digestLayer(folder: string): Promise<string> {
  return (await describeLayer(folder)).digest;
}

/** The digest together with the number of entries. */
export async function describeLayer(folder: string): Promise<Layer> {
  const listing = createHash("sha256");
  const firstNames = new Map<bigint, string>();
  let files = 0;
  for await (const entry of walkTree(folder)) {
    files += 1;
    listing.update(`${await lineOf(entry, firstNames)}\n`);
  }
  return { path: folder, digest: listing.digest("hex"), files };
}

async function lineOf(entry: TreeEntry, firstNames: Map<bigint, string>): Promise<string> {
  const { path, stats } = entry;
  // Latin-1 maps every byte to a character of its own, and JSON quotes line feeds.
  const name = JSON.stringify(path.toString("latin1"));
  const first = firstNames.get(stats.ino);
  if (!stats.isDirectory() && stats.nlink > 1n && first === undefined) firstNames.set(stats.ino, name);
  const content = first === undefined ? await contentOf(entry) : `same ${first}`;
  const head = [stats.mode.toString(8), stats.uid, stats.gid].join(" ");
  return `${head} ${content} ${attributesOf(entry)} ${name}`;
}

async function contentOf({ host, stats }: TreeEntry): Promise<string> {
  if (stats.isSymbolicLink()) {
    const target = await readlink(host, { encoding: "buffer" });
    return `to ${JSON.stringify(target.toString("latin1"))}`;
  }
  if (stats.isFile()) return await hashOf(host);
  return stats.isDirectory() ? "folder" : `device ${stats.rdev}`;
}

async function hashOf(path: Buffer): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

function attributesOf({ host }: TreeEntry): string {
  const path = host.toString("utf8");
  // The system call wrapper takes text: a name that is no UTF-8 is listed without its attributes.
  if (!Buffer.from(path).equals(host)) return "{}";
  const names = sys.llistxattr(path).sort();
  return JSON.stringify(
    Object.fromEntries(names.map((name) => [name, sys.lgetxattr(path, name).toString("base64")])),
  );
}
