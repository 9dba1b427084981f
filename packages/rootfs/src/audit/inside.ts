import type { Stats } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { RootfsError, systemCode } from "../errors.js";
import { resolveInRoot } from "../resolve.js";

const MAX_FILE_BYTES = 1 << 20;

/** What stands at a path of a root, links followed inside it; undefined where nothing does. */
export async function statInside(root: string, path: string): Promise<Stats | undefined> {
  return await orNothing(async () => stat((await resolveInRoot(root, path)).host));
}

/** The text of a file of a root; undefined where there is none, or where it is larger than `maxBytes` (1 MiB). */
export async function readInside(
  root: string,
  path: string,
  { maxBytes = MAX_FILE_BYTES }: { readonly maxBytes?: number } = {},
): Promise<string | undefined> {
  const stats = await statInside(root, path);
  if (!stats?.isFile() || stats.size > maxBytes) return undefined;
  return await readFile((await resolveInRoot(root, path)).host, "utf8");
}

/** The names in a folder of a root, sorted; none where there is no such folder. */
export async function namesInside(root: string, path: string): Promise<string[]> {
  return ((await orNothing(async () => readdir((await resolveInRoot(root, path)).host))) ?? []).sort();
}

/** What a root does not let be read is as good as absent to an audit. */
async function orNothing<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof RootfsError || systemCode(error) !== undefined) return undefined;
    throw error;
  }
}
