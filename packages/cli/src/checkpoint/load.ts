import { assertRestorable, type CheckpointFlags, type Criu, readManifest } from "@drums/criu";
import { digestLayer } from "@drums/rootfs";
import { z } from "zod";
import { DrumsError, EXIT } from "../errors.js";
import type { Home } from "../home.js";
import { type SessionSpec, sessionSpecSchema } from "../session/record.js";
import { checkpointFolder, listCheckpoints } from "./store.js";

/** A checkpoint that was found fit for a restore. */
export interface LoadedCheckpoint {
  readonly name: string;
  readonly images: string;
  /** What siblings are made of; its uppermost layer is the dumped upper. */
  readonly spec: SessionSpec;
  readonly flags: CheckpointFlags;
  /** The session that it was made of. */
  readonly origin: { readonly session: string; readonly generation: number };
  /** Names that join what the dump and a restore bind from outside. */
  readonly externalKeys: readonly string[];
}

/** A checkpoint that does not say whom it was made of is taken as of an unnamed session of the first generation. */
const checkpointSessionSchema = sessionSpecSchema.extend({
  origin: z
    .object({ session: z.string(), generation: z.number().int() })
    .default({ session: "", generation: 0 }),
});

/**
 * Reads a checkpoint and refuses one that this CRIU, or its layers as they are now, could not restore.
 * @throws DrumsError NO_CHECKPOINT; CriuError CRIU_VERSION_MISMATCH, LAYER_CHANGED, MANIFEST_INVALID
 */
export async function loadCheckpoint(
  home: Home,
  name: string,
  { criu }: { readonly criu: Criu },
): Promise<LoadedCheckpoint> {
  const folder = checkpointFolder(home, name);
  if (!(await listCheckpoints(home)).includes(name)) throw missing(home, name);
  const manifest = await readManifest(folder.path);
  const { origin, ...spec } = checkpointSessionSchema.parse(manifest.session);
  const layers = await Promise.all(
    spec.layers.map(async ({ path }) => ({ name: path, digest: await digestLayer(path) })),
  );
  assertRestorable(manifest, { criu, layers, externals: manifest.externals });
  const externalKeys = manifest.externals.map(({ key }) => key);
  return { name, images: folder.images, spec, origin, flags: manifest.flags, externalKeys };
}

function missing(home: Home, name: string): DrumsError {
  return new DrumsError({
    code: "NO_CHECKPOINT",
    exitCode: EXIT.usage,
    what: `no checkpoint ${JSON.stringify(name)}`,
    where: home.checkpoints,
    hint: "`drums ps` lists the checkpoints beside the sessions; `drums checkpoint SESSION --name NAME` makes one",
  });
}
