import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isImageName } from "../checkpoint/images.js";

/** Bytes of a dump's images by what they hold. */
export interface ImageSizes {
  /** Memory pages. */
  readonly pages: number;
  /** Open files without a name. */
  readonly ghosts: number;
  /** Content of the session's tmpfs mounts, as tar packed it. */
  readonly tmpfs: number;
  /** All else: processes, files, sockets, namespaces. */
  readonly descriptions: number;
  readonly total: number;
}

/** What an image of CRIU's holds, by its name (criu/image-desc.c). */
export function imageKind(name: string): Exclude<keyof ImageSizes, "total"> {
  if (/^pages-/.test(name)) return "pages";
  if (/^ghost-file-/.test(name)) return "ghosts";
  return /^tmpfs-/.test(name) ? "tmpfs" : "descriptions";
}

/** Sizes of a dump's images by kind. */
export async function imageSizes(folder: string): Promise<ImageSizes> {
  const sizes = { pages: 0, ghosts: 0, tmpfs: 0, descriptions: 0, total: 0 };
  for (const name of (await readdir(folder)).filter(isImageName)) {
    const { size } = await lstat(join(folder, name));
    sizes[imageKind(name)] += size;
    sizes.total += size;
  }
  return sizes;
}
