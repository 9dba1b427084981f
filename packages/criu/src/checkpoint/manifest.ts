import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { CriuError } from "../errors.js";
import type { Criu } from "../install/find.js";
import { compareVersions } from "../install/version.js";
import type { Limits } from "./limits.js";

const FILE = "checkpoint.json";
const digest = z.string().min(1);

/** A checkpoint's manifest, format 1: what a restore must repeat, and what it must find unchanged. */
export const checkpointManifestSchema = z.object({
  format: z.literal(1),
  /** ISO 8601. */
  createdAt: z.string(),
  criu: z.object({ version: z.string(), digest }),
  /** Kernel release of the dump; for information. */
  kernel: z.string(),
  flags: z.object({
    fileLocks: z.boolean(),
    linkRemap: z.boolean(),
    tcpEstablished: z.boolean(),
    tcpClose: z.boolean().default(false),
    ghostLimitBytes: z.number().int().positive(),
    emptyNet: z.boolean(),
    plainTmpfs: z.boolean().default(false),
  }),
  /** Lower layers, the uppermost first, as they were at the dump. */
  layers: z.array(z.object({ name: z.string(), digest })),
  externals: z.array(z.object({ mountPoint: z.string(), key: z.string() })),
  /** Hard limits of the session by name, such as `nofile`; null is unlimited. A restore needs at least these. */
  limits: z.record(z.string(), z.number().nullable()),
  /** The session's own description; this package does not look into it. */
  session: z.record(z.string(), z.unknown()),
  /** Image files with their sizes, and their sha256 where it was asked for. */
  images: z.array(z.object({ name: z.string(), bytes: z.number().int(), sha256: z.string().optional() })),
});

export type CheckpointManifest = z.infer<typeof checkpointManifestSchema>;

/** Writes `checkpoint.json` into a checkpoint's folder, whole or not at all. Returns its path. */
export async function writeManifest(folder: string, manifest: CheckpointManifest): Promise<string> {
  const path = join(folder, FILE);
  await writeFile(`${path}.new`, `${JSON.stringify(checkpointManifestSchema.parse(manifest), null, 2)}\n`);
  await rename(`${path}.new`, path);
  return path;
}

/**
 * Reads and checks a checkpoint's manifest.
 * @throws {CriuError} `MANIFEST_UNREADABLE` where there is none, `MANIFEST_INVALID` for another format or shape
 */
export async function readManifest(folder: string): Promise<CheckpointManifest> {
  const path = join(folder, FILE);
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new CriuError("MANIFEST_UNREADABLE", `${path} cannot be read`, {
      hint: "The folder is no checkpoint, or its dump did not finish: make the checkpoint again",
      cause,
      facts: { path },
    });
  });
  return parseManifest(text, { path });
}

/** @throws {CriuError} `MANIFEST_INVALID` */
export function parseManifest(
  text: string,
  { path = FILE }: { readonly path?: string } = {},
): CheckpointManifest {
  try {
    return checkpointManifestSchema.parse(JSON.parse(text));
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
    throw new CriuError("MANIFEST_INVALID", `${path} is no checkpoint manifest of format 1: ${reason}`, {
      hint: "It was written by another version of drums, or damaged: make the checkpoint again",
      cause,
      facts: { path },
    });
  }
}

/** What a restore is about to use. */
export interface RestoreGround {
  readonly criu: Pick<Criu, "version">;
  /** The lower layers as they are now, the uppermost first. */
  readonly layers: readonly { readonly name: string; readonly digest: string }[];
  /** Externals that will be bound, by key. */
  readonly externals?: readonly { readonly key: string }[];
  /** Limits of this process by the manifest's names. A lower one would silently cap the restored tasks. */
  readonly limits?: Limits;
  /** Accept a CRIU newer than the checkpoint's; newer ones read older images. Default false. */
  readonly allowNewer?: boolean;
}

/**
 * Refuses a restore that could not be right, before CRIU is called.
 * @throws {CriuError} `CRIU_VERSION_MISMATCH`, `LAYER_CHANGED`, `EXTERNAL_MISSING`, `LIMIT_TOO_LOW`
 */
export function assertRestorable(manifest: CheckpointManifest, ground: RestoreGround): void {
  assertVersion(manifest, ground);
  assertLayers(manifest, ground);
  assertExternals(manifest, ground);
  assertLimits(manifest, ground);
}

function assertExternals(manifest: CheckpointManifest, { externals = [] }: RestoreGround): void {
  const bound = new Set(externals.map(({ key }) => key));
  const missing = manifest.externals.find(({ key }) => !bound.has(key));
  if (missing === undefined) return;
  throw new CriuError(
    "EXTERNAL_MISSING",
    `Nothing is given for the external mount at ${missing.mountPoint}`,
    {
      hint: `Name a host path for the key ${missing.key}`,
      facts: { key: missing.key, mountPoint: missing.mountPoint },
    },
  );
}

function assertLimits(manifest: CheckpointManifest, { limits = {} }: RestoreGround): void {
  for (const [name, needed] of Object.entries(manifest.limits)) {
    const found = limits[name];
    if (found === undefined || found === null || (needed !== null && found >= needed)) continue;
    const wanted = needed ?? "unlimited";
    throw new CriuError(
      "LIMIT_TOO_LOW",
      `The limit ${name} is ${found} here, the checkpoint needs ${wanted}`,
      {
        hint: `Start drums with a higher hard limit (ulimit -H), at least ${wanted}`,
        facts: { limit: name, needed: wanted, found },
      },
    );
  }
}

function assertVersion(manifest: CheckpointManifest, { criu, allowNewer = false }: RestoreGround): void {
  const order = compareVersions(criu.version, manifest.criu.version);
  if (order === 0 || (order > 0 && allowNewer)) return;
  const which =
    order < 0 ? "an older CRIU cannot read its images" : "it was not asked to be read by a newer one";
  throw new CriuError(
    "CRIU_VERSION_MISMATCH",
    `The checkpoint was made by CRIU ${manifest.criu.version}, this is ${criu.version}: ${which}`,
    {
      hint: `Install CRIU ${manifest.criu.version} beside it (installCriu with that version)`,
      facts: { needed: manifest.criu.version, found: criu.version },
    },
  );
}

function assertLayers(manifest: CheckpointManifest, { layers }: RestoreGround): void {
  for (const [index, wanted] of manifest.layers.entries()) {
    const found = layers[index];
    if (found?.digest === wanted.digest) continue;
    throw layerChanged(wanted, found);
  }
  const extra = layers[manifest.layers.length];
  if (extra !== undefined) throw layerChanged(undefined, extra);
}

type Layer = { readonly name: string; readonly digest: string };

function layerChanged(wanted: Layer | undefined, found: Layer | undefined): CriuError {
  const name = wanted?.name ?? found?.name ?? "";
  return new CriuError("LAYER_CHANGED", `Layer ${name} is not what it was when the checkpoint was made`, {
    hint: "Restore on the very layers of the checkpoint: memory and files would not fit together",
    facts: { layer: name, expected: wanted?.digest ?? "none", found: found?.digest ?? "none" },
  });
}
