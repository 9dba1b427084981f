import { open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileReader, MAX_READ_BYTES } from "../image/reader.js";
import { namesInside, readInside } from "./inside.js";

const MAX_LOADER_BYTES = 8 << 20;
const MAX_CONF_BYTES = 64 << 10;
const MAX_INCLUDES = 64;
const CONF_PATH = "/etc/ld.so.conf";

/** Two or more folders in a row, each ended by a slash and a NUL, as glibc's `system_dirs` holds them. */
const SYSTEM_DIRS = /(?:\/(?:usr\/)?lib[\w./-]*\/\0){2,}/;

/** What a glibc loader has compiled in. */
export interface LoaderFacts {
  /** Where it looks last, in order, each without a slash at its end. */
  readonly folders: readonly string[];
  /** What $LIB stands for: `lib/x86_64-linux-gnu`, `lib64`. */
  readonly lib: string;
}

/**
 * Reads a loader's default folders out of the loader's own file: distributions differ in them.
 *
 * @param host the loader, a file of the host
 * @returns undefined where it holds none, as a loader of musl
 */
export async function readLoaderFacts(host: string): Promise<LoaderFacts | undefined> {
  const file = await open(host, "r");
  try {
    const read = fileReader(file);
    let before = "";
    for (let at = 0; at < MAX_LOADER_BYTES; at += MAX_READ_BYTES) {
      const chunk = (await read(at, MAX_READ_BYTES)).toString("latin1");
      const [match] = SYSTEM_DIRS.exec(before + chunk) ?? [];
      if (match) return factsFrom(match.split("\0").filter(Boolean));
      if (chunk.length < MAX_READ_BYTES) break;
      before = chunk.slice(-1024);
    }
    return undefined;
  } finally {
    await file.close();
  }
}

function factsFrom(found: readonly string[]): LoaderFacts {
  const folders = found.map((folder) => folder.replace(/\/+$/, ""));
  const [first = "/lib"] = folders;
  return { folders, lib: first.replace(/^\//, "") };
}

/**
 * Folders named by a root's /etc/ld.so.conf and what it includes. The loader itself does not read it:
 * ldconfig does, and writes the cache. It tells why a library is there and not found.
 */
export async function readLoaderConf(root: string): Promise<string[]> {
  const folders: string[] = [];
  const pending = [CONF_PATH];
  for (let count = 0; count < MAX_INCLUDES; count++) {
    const path = pending.shift();
    if (path === undefined) break;
    const text = (await readInside(root, path, { maxBytes: MAX_CONF_BYTES })) ?? "";
    const { named, included } = parseLoaderConf(text);
    folders.push(...named);
    for (const pattern of included) pending.push(...(await glob(root, resolve(dirname(path), pattern))));
  }
  return folders;
}

/** The folders and the `include` patterns of one file in the form of ld.so.conf. */
export function parseLoaderConf(text: string): { named: string[]; included: string[] } {
  const [named, included]: [string[], string[]] = [[], []];
  for (const line of text.split("\n").map((whole) => whole.replace(/#.*/, "").trim())) {
    const include = /^include\s+(.*)$/.exec(line);
    if (include?.[1]) included.push(...include[1].split(/\s+/));
    // "hwcap N NAME" is of old; "FOLDER=TYPE" names a library type that is ignored.
    else if (!line.startsWith("hwcap "))
      named.push(
        ...line
          .split(/[\s:,]+/)
          .map((word) => word.replace(/=.*/, ""))
          .filter((word) => word.startsWith("/")),
      );
  }
  return { named, included };
}

/** A pattern with wildcards in its last component, as ldconfig's configuration has them. */
async function glob(root: string, pattern: string): Promise<string[]> {
  const folder = dirname(pattern);
  const last = pattern.slice(folder.length).replace(/^\//, "");
  if (!/[*?]/.test(last)) return [pattern];
  const source = last
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", "[^/]*")
    .replaceAll("?", "[^/]");
  return (await namesInside(root, folder))
    .filter((name) => new RegExp(`^${source}$`).test(name) && !name.startsWith("."))
    .map((name) => `${folder}/${name}`);
}
