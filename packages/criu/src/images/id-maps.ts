import { readdir } from "node:fs/promises";
import { type userns_entry, userns_entrySchema } from "../gen/images_pb.js";
import { MAGIC, readImage } from "./reader.js";

/** A range of ids of a user namespace, user_namespaces(7). */
export interface IdRange {
  /** First id inside. */
  readonly inside: number;
  /** First id outside. */
  readonly outside: number;
  readonly count: number;
}

/** The maps that a restore gives a session's user namespace. */
export interface IdMaps {
  readonly uids: readonly IdRange[];
  readonly gids: readonly IdRange[];
}

/** The id maps of a dump; undefined where it has no user namespace of its own. @throws {CriuError} `IMAGE_INVALID` */
export async function readIdMaps(folder: string): Promise<IdMaps | undefined> {
  const names = (await readdir(folder)).filter((name) => /^userns-\d+\.img$/.test(name));
  const kind = { schema: userns_entrySchema, magic: MAGIC.userns };
  const entries = (await Promise.all(names.map((name) => readImage(folder, name, kind)))).flatMap(
    (image) => image ?? [],
  );
  if (entries.length === 0) return undefined;
  return { uids: rangesOf(entries, "uidMap"), gids: rangesOf(entries, "gidMap") };
}

function rangesOf(entries: readonly userns_entry[], map: "uidMap" | "gidMap"): IdRange[] {
  return entries.flatMap((entry) =>
    entry[map].map(({ first, lowerFirst, count }) => ({ inside: first, outside: lowerFirst, count })),
  );
}
