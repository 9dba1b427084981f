import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { sha256, sha256File } from "./digest.js";

const RECORD = "bundle.json";

const recordSchema = z.object({
  format: z.literal(1),
  version: z.string(),
  packages: z.array(z.object({ name: z.string(), version: z.string(), sha256: z.string() })),
  files: z
    .array(z.object({ path: z.string(), bytes: z.number(), mtimeMs: z.number(), sha256: z.string() }))
    .min(3),
});

/** What a bundle consists of: the packages it came from and each file with size, time and hash. */
export type BundleRecord = z.infer<typeof recordSchema>;

/** The record of a bundle's folder, or undefined where there is none that can be read. */
export async function readRecord(folder: string): Promise<BundleRecord | undefined> {
  const text = await readFile(join(folder, RECORD), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const parsed = recordSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

export async function writeRecord(folder: string, record: BundleRecord): Promise<void> {
  await writeFile(join(folder, RECORD), `${JSON.stringify(record, null, 2)}\n`);
}

/** Describes every file in a bundle's folder. */
export async function recordFiles(folder: string): Promise<BundleRecord["files"]> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  return Promise.all(
    names.map(async (path) => {
      const { size, mtimeMs } = await stat(join(folder, path));
      return { path, bytes: size, mtimeMs, sha256: (await sha256File(join(folder, path))) ?? "" };
    }),
  );
}

/**
 * Compares a folder with its record: by size and time, or by hash where asked (14 MB, some 20 ms).
 * @returns the path of the first file that differs, or undefined where all are as recorded
 */
export async function verifyRecord(
  folder: string,
  record: BundleRecord,
  { hash }: { readonly hash: boolean },
): Promise<string | undefined> {
  for (const file of record.files) {
    const path = join(folder, file.path);
    const found = await stat(path).catch(() => undefined);
    if (found?.size !== file.bytes) return file.path;
    const sure = !hash && found.mtimeMs === file.mtimeMs;
    if (!sure && (await sha256File(path)) !== file.sha256) return file.path;
  }
  return undefined;
}

/** One digest that stands for the whole bundle. */
export function recordDigest(record: BundleRecord): string {
  return sha256(record.files.map(({ path, sha256: hash }) => `${hash}  ${path}\n`).join(""));
}
