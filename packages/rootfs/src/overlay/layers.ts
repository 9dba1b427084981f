import { open } from "node:fs/promises";
import { type MountInfo, readMountinfo } from "@drums/nsexec/proc";
import { fileReader } from "../image/reader.js";
import { recogniseFilesystem } from "../image/superblocks.js";

/** A layer and the file system that it lies on. */
export interface LayerDescription {
  readonly name: string;
  readonly path: string;
  /** major:minor of the file system. */
  readonly device: string;
  readonly fsType: string;
  /** Of the file system; "" where it has none, undefined where it cannot be read from a block device. */
  readonly uuid?: string;
}

/**
 * Finds the file system of each layer: what verifyOverlay needs to name the layer that made the kernel
 * fall back. Call it in the mount namespace in which the layers are mounted.
 */
export async function describeLayers(
  layers: readonly { readonly name: string; readonly path: string }[],
): Promise<LayerDescription[]> {
  const mounts = await readMountinfo("self");
  return await Promise.all(
    layers.map(async ({ name, path }) => {
      const mount = mountOf(mounts, path);
      const device = mount ? `${mount.major}:${mount.minor}` : "unknown";
      const uuid = mount && (await uuidOf(mount));
      return {
        name,
        path,
        device,
        fsType: mount?.fsType ?? "unknown",
        ...(uuid === undefined ? {} : { uuid }),
      };
    }),
  );
}

function mountOf(mounts: readonly MountInfo[], path: string): MountInfo | undefined {
  let best: MountInfo | undefined;
  for (const mount of mounts) {
    const inside = path === mount.mountPoint || path.startsWith(mount.mountPoint.replace(/\/?$/, "/"));
    // Of two mounts at one place the later covers the earlier.
    if (inside && mount.mountPoint.length >= (best?.mountPoint.length ?? 0)) best = mount;
  }
  return best;
}

async function uuidOf({ source }: MountInfo): Promise<string | undefined> {
  if (!source.startsWith("/dev/")) return undefined;
  try {
    const device = await open(source, "r");
    try {
      const found = await recogniseFilesystem(fileReader(device));
      return found && (/^[0-]*$/.test(found.uuid) ? "" : found.uuid);
    } finally {
      await device.close();
    }
  } catch {
    return undefined;
  }
}
