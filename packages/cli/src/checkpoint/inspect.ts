import { type Inspection, inspectImages } from "@drums/criu";
import { measureUpper } from "@drums/rootfs";
import type { Home } from "../home.js";
import { openCheckpoint } from "./load.js";

/** What a checkpoint holds. */
export interface CheckpointInspection extends Omit<Inspection, "sizes" | "processes"> {
  readonly name: string;
  readonly createdAt: string;
  readonly criu: string;
  readonly desktop: string;
  readonly profile: string;
  /** First host id of its user namespace, where it has one. */
  readonly idBase: number | undefined;
  readonly processes: readonly (Omit<Inspection["processes"][number], "limits"> & {
    /** Hard limits by name; null is unlimited. */
    readonly limits: Readonly<Record<string, number | null>>;
  })[];
  /** Bytes: of the images by kind, and of the session's upper on disk. */
  readonly sizes: Inspection["sizes"] & { readonly upper: number };
}

/**
 * Reads a checkpoint's manifest and images. Nothing is restored and CRIU is not called.
 * @throws DrumsError NO_CHECKPOINT; CriuError IMAGE_INVALID, MANIFEST_INVALID
 */
export async function inspectCheckpoint(home: Home, name: string): Promise<CheckpointInspection> {
  const { folder, manifest, spec } = await openCheckpoint(home, name);
  const { processes, sizes, ...found } = await inspectImages(folder.images);
  const { bytes: upper } = await measureUpper(folder.upper);
  return {
    name,
    createdAt: manifest.createdAt,
    criu: manifest.criu.version,
    desktop: spec.desktop,
    profile: spec.profile,
    idBase: spec.idBase,
    ...found,
    processes: processes.map(({ limits, ...process }) => ({
      ...process,
      limits: Object.fromEntries([...limits].map(([limit, value]) => [limit, value ?? null])),
    })),
    sizes: { ...sizes, upper },
  };
}
