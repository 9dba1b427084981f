import { open } from "node:fs/promises";
import { RootfsError, reasonOf, systemCode } from "../errors.js";
import { fileReader } from "../image/reader.js";
import type { ImageSource } from "../image/source.js";
import { recogniseFilesystem } from "../image/superblocks.js";
import { HOST_FLAGS } from "./partition-mount.js";
import type { RootSystem } from "./system.js";

/** Why an image cannot be mounted from its own file, or undefined. */
export async function probeErofsFile({ format, path }: ImageSource): Promise<string | undefined> {
  if (format !== "raw") return `the image is ${format}, not raw`;
  const file = await open(path, "r");
  try {
    const kind = (await recogniseFilesystem(fileReader(file)))?.kind;
    return kind === "erofs" ? undefined : "the file is not an erofs image without a partition table";
  } finally {
    await file.close();
  }
}

/**
 * Mounts an erofs image straight from its file, without a loop device (Linux 6.12 and later,
 * CONFIG_EROFS_FS_BACKED_BY_FILE).
 *
 * @throws RootfsError NO_WAY where this kernel wants a block device, or has no erofs
 */
export async function mountErofsFile(system: RootSystem, image: string, target: string): Promise<void> {
  try {
    await system.mount(target, { source: image, fsType: "erofs", flags: HOST_FLAGS });
  } catch (cause) {
    const code = systemCode(cause);
    if (code === undefined) throw cause;
    const why = code === "ENOTBLK" ? "this kernel mounts erofs from block devices only" : reasonOf(cause);
    throw new RootfsError("NO_WAY", why, {
      path: image,
      hint: "A loop device takes its place: let the way be chosen.",
      cause,
    });
  }
}
