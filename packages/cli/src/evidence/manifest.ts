import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { pipeline } from "node:stream/promises";

/** Name of the list of sums in an attempt's folder. It is written last and lists everything but itself. */
export const MANIFEST = "manifest.sha256";

/** One line of a manifest. */
export interface ManifestEntry {
  readonly sha256: string;
  /** Path below the attempt's folder. */
  readonly path: string;
}

/** What a folder holds: regular files, and by name whatever else lies there and cannot be summed. */
export interface FolderContent {
  readonly files: readonly string[];
  /** Links, sockets, devices: never followed, always an objection. */
  readonly others: readonly string[];
}

/** The sums as `sha256sum` writes them, so that `sha256sum -c manifest.sha256` checks them too. */
export function formatManifest(entries: readonly ManifestEntry[]): string {
  return [...entries]
    .sort((a, b) => compareBytes(a.path, b.path))
    .map(({ sha256, path }) => `${sha256}  ${path}\n`)
    .join("");
}

/** Reads what `formatManifest` wrote; anything looser is a fault, since one changed byte must show. */
export function parseManifest(text: string): { entries: ManifestEntry[]; faults: string[] } {
  const entries: ManifestEntry[] = [];
  const faults: string[] = [];
  if (text !== "" && !text.endsWith("\n")) faults.push("the last line has no newline");
  for (const [index, line] of text.split("\n").slice(0, -1).entries()) {
    const [, sha256, path] = /^([0-9a-f]{64}) {2}([A-Za-z0-9_-][A-Za-z0-9._/-]*)$/.exec(line) ?? [];
    if (sha256 === undefined || path === undefined) faults.push(`line ${index + 1} is not a sum and a name`);
    else entries.push({ sha256, path });
  }
  if (faults.length === 0 && formatManifest(entries) !== text) faults.push("the lines are not in order");
  return { entries, faults };
}

/** Lists a folder's files recursively, sorted, without following links and without the manifest itself. */
export async function listContent(folder: string): Promise<FolderContent> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const named = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => ({ path: relative(folder, join(entry.parentPath, entry.name)), regular: entry.isFile() }))
    .filter(({ path }) => path !== MANIFEST)
    .sort((a, b) => compareBytes(a.path, b.path));
  return {
    files: named.filter(({ regular }) => regular).map(({ path }) => path),
    others: named.filter(({ regular }) => !regular).map(({ path }) => path),
  };
}

/** Sums files of a folder, one after another: they are many and small. */
export async function sumFiles(folder: string, files: readonly string[]): Promise<ManifestEntry[]> {
  const entries: ManifestEntry[] = [];
  for (const path of files) entries.push({ path, sha256: await sumFile(join(folder, path)) });
  return entries;
}

async function sumFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
