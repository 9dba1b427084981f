import {
  assertRestorable,
  type CheckpointFlags,
  type CheckpointManifest,
  type Criu,
  CriuError,
  ownLimits,
  readManifest,
} from "@drums/criu";
import { z } from "zod";
import { codeOf, DrumsError, EXIT, messageOf } from "../errors.js";
import type { Home } from "../home.js";
import { assertLimitsAvailable } from "../session/limits.js";
import { type SessionSpec, sessionSpecSchema } from "../session/record.js";
import { layerDigests } from "./layer-digest.js";
import { fromPlace, type PlaceGround, withPlaces } from "./places.js";
import { type CheckpointFolder, checkpointFolder, listCheckpoints } from "./store.js";

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

/** How a checkpoint is to be restored. */
export interface LoadOptions {
  readonly criu: Criu;
  /** `criu` may be newer than the one that wrote the images. Default false. */
  readonly newerCriu?: boolean;
  /** Restore where the checkpoint's limits cannot be in force. Default: what the session was told. */
  readonly allowUnlimited?: boolean;
}

/**
 * Reads a checkpoint and refuses one that this CRIU, or its layers as they are now, could not restore.
 * @throws DrumsError NO_CHECKPOINT, LIMITS_UNAVAILABLE, CRIU_VERSION_MISMATCH; CriuError LAYER_CHANGED, LIMIT_TOO_LOW,
 *   MANIFEST_INVALID
 */
export async function loadCheckpoint(
  home: Home,
  name: string,
  { criu, newerCriu = false, allowUnlimited }: LoadOptions,
): Promise<LoadedCheckpoint> {
  const { folder, manifest, spec: saved, origin } = await openCheckpoint(home, name);
  const spec = allowUnlimited ? { ...saved, allowUnlimited } : saved;
  await assertLimitsAvailable(spec);
  const layers = await layerDigests(spec, { known: folder.digests });
  const ground = { criu, allowNewer: newerCriu, layers, externals: manifest.externals };
  try {
    assertRestorable(manifest, { ...ground, limits: await ownLimits() });
  } catch (error) {
    throw codeOf(error) === "CRIU_VERSION_MISMATCH" ? otherCriu(error, manifest) : error;
  }
  const externalKeys = manifest.externals.map(({ key }) => key);
  return { name, images: folder.images, spec, origin, flags: manifest.flags, externalKeys };
}

function otherCriu(cause: unknown, { criu }: CheckpointManifest): DrumsError {
  return new DrumsError({
    code: "CRIU_VERSION_MISMATCH",
    exitCode: EXIT.usage,
    what: messageOf(cause),
    hint: `use the one that wrote it, or a newer one: --criu ${criu.version}`,
    cause,
  });
}

/** A checkpoint as its manifest has it, whatever became of what it stands on. */
export interface OpenedCheckpoint {
  readonly folder: CheckpointFolder;
  readonly manifest: CheckpointManifest;
  /** With absolute paths. */
  readonly spec: SessionSpec;
  readonly origin: LoadedCheckpoint["origin"];
}

/** Reads a checkpoint's manifest. @throws DrumsError NO_CHECKPOINT; CriuError MANIFEST_INVALID, MANIFEST_UNREADABLE */
export async function openCheckpoint(home: Home, name: string): Promise<OpenedCheckpoint> {
  const folder = checkpointFolder(home, name);
  if (!(await listCheckpoints(home)).includes(name)) throw missing(home, name);
  const manifest = await readManifest(folder.path);
  return { folder, manifest, ...sessionOf(manifest, { home, folder }) };
}

/** What a manifest's siblings are made of. @throws CriuError MANIFEST_INVALID */
export function sessionOf(
  { session }: CheckpointManifest,
  ground: PlaceGround,
): Pick<OpenedCheckpoint, "spec" | "origin"> {
  try {
    const placed = withPlaces(session, (path) => fromPlace(path, ground));
    const { origin, ...spec } = checkpointSessionSchema.parse(placed);
    return { spec, origin };
  } catch (cause) {
    if (!(cause instanceof z.ZodError)) throw cause;
    throw new CriuError(
      "MANIFEST_INVALID",
      `${ground.folder.path} describes no session: ${z.prettifyError(cause)}`,
      {
        hint: "It was written by another version of drums, or damaged: make the checkpoint again",
        cause,
        facts: { path: ground.folder.path },
      },
    );
  }
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
