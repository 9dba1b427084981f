import { readdir } from "node:fs/promises";
import { mnt_entrySchema } from "../gen/images_pb.js";
import { MAGIC, readImage } from "./reader.js";

/** A mount of the dumped session. */
export interface ImageMount {
  readonly mountPoint: string;
  /** What its filesystem names as its source. */
  readonly source: string;
  /** Folder of the filesystem that it shows. */
  readonly root: string;
  /** Of a mount whose content lies outside: the name that a restore must give it again. */
  readonly externalKey?: string;
}

/** The mounts of a dump, in its order. @throws {CriuError} `IMAGE_INVALID` */
export async function readMounts(folder: string): Promise<ImageMount[]> {
  const names = (await readdir(folder)).filter((name) => /^mountpoints-\d+\.img$/.test(name)).sort();
  const kind = { schema: mnt_entrySchema, magic: MAGIC.mnts };
  const images = await Promise.all(names.map((name) => readImage(folder, name, kind)));
  return images.flatMap((entries) =>
    (entries ?? []).map(({ mountpoint, source, root, extKey }) => ({
      mountPoint: `/${mountpoint.replace(/^[./]+/, "")}`,
      source,
      root,
      ...(extKey === "" ? {} : { externalKey: extKey }),
    })),
  );
}
