import { join, normalize } from "node:path";
import { CriuError } from "@drums/criu";
import { z } from "zod";
import type { Home } from "../home.js";
import type { CheckpointFolder } from "./store.js";

/*
 * A checkpoint names what it stands on so that it can be moved: what lies in its own folder as `checkpoint:PATH`,
 * what lies in its home as `home:PATH`, all else by its absolute path.
 */

/** Where a manifest's places are looked for. */
export interface PlaceGround {
  readonly home: Home;
  readonly folder: CheckpointFolder;
}

/** The parts of a manifest's session that name places. */
const placesSchema = z.looseObject({
  image: z.looseObject({ path: z.string() }),
  layers: z.array(z.looseObject({ path: z.string() })),
});

/** A path as a manifest keeps it. */
export function toPlace(path: string, { home, folder }: PlaceGround): string {
  if (path.startsWith(`${folder.path}/`)) return `checkpoint:${path.slice(folder.path.length + 1)}`;
  if (path.startsWith(`${home.path}/`)) return `home:${path.slice(home.path.length + 1)}`;
  return path;
}

/** The absolute path of a place. @throws {CriuError} `MANIFEST_INVALID` for one that leaves its ground */
export function fromPlace(place: string, { home, folder }: PlaceGround): string {
  const [, ground, path = ""] = /^(checkpoint|home):(.+)$/s.exec(place) ?? [];
  if (ground === undefined) return place;
  const kept = normalize(path);
  if (kept.startsWith("/") || kept.split("/").includes("..")) throw leaves(place, folder);
  return join(ground === "home" ? home.path : folder.path, kept);
}

/** A manifest's session with each place replaced by what `change` gives. Throws CriuError `MANIFEST_INVALID`. */
export function withPlaces(session: unknown, change: (path: string) => string): z.infer<typeof placesSchema> {
  const { image, layers, ...rest } = placesSchema.parse(session);
  return {
    ...rest,
    image: { ...image, path: change(image.path) },
    layers: layers.map((layer) => ({ ...layer, path: change(layer.path) })),
  };
}

function leaves(place: string, { path }: CheckpointFolder): CriuError {
  return new CriuError("MANIFEST_INVALID", `The manifest of ${path} names a place outside: ${place}`, {
    hint: "It was damaged or made by hand: make the checkpoint again",
    facts: { path, place },
  });
}
