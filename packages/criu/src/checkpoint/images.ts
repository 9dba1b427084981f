import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Whether a file name is one of CRIU's images (criu/image-desc.c), as opposed to logs or a caller's files. */
export function isImageName(name: string): boolean {
  return /\.img$/.test(name) || /^stats-(dump|restore)$/.test(name);
}

/** Bytes that a checkpoint's images take on disk as their sizes say. */
export async function imageBytes(folder: string): Promise<number> {
  const names = (await readdir(folder)).filter(isImageName);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Removes what a failed dump left in its folder; the logs stay. */
export async function removeImages(folder: string): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).filter(isImageName);
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })));
}
