import { RootfsError } from "../errors.js";
import type { BlockNode, ImageSource } from "../image/source.js";
import type { DaemonIdentity } from "./daemon.js";
import { probeErofsFile } from "./erofs-file.js";
import { exportByFuse, probeFuseExport } from "./fuse-export.js";
import type { RootFolder } from "./layout.js";
import { connectNbd, probeNbd } from "./nbd.js";
import { exportByNbdFuse, probeNbdFuse } from "./nbd-fuse.js";
import type { Way } from "./record.js";
import type { RootSystem } from "./system.js";

/** A way that was not taken, and why. */
export interface PassedOver {
  readonly way: Way;
  readonly reason: string;
}

/** Tried in this order: the fewer moving parts, the earlier. */
export const WAYS: readonly Way[] = ["folder", "erofs-file", "raw-loop", "nbd", "fuse-export", "nbd-fuse"];

/** What is to be mounted: a folder, or a checked image. */
export type RootSource =
  | { readonly kind: "folder"; readonly path: string }
  | ({ readonly kind: "image" } & ImageSource);

/** A disk that can be read and attached to a loop device. */
export interface ExposedDisk {
  /** The image itself, a FUSE file, or a block device. */
  readonly disk: string;
  readonly daemon?: DaemonIdentity;
  /** Serves the daemon. */
  readonly server?: DaemonIdentity;
}

/** Why a way cannot be taken for this source on this machine, or undefined. */
export async function probeWay(
  way: Way,
  source: RootSource,
  { system, folder }: { readonly system: RootSystem; readonly folder: RootFolder },
): Promise<string | undefined> {
  if (source.kind === "folder") return way === "folder" ? undefined : "the image is a folder";
  if (way === "folder") return "the image is a file, not a folder";
  if (way === "erofs-file") return await probeErofsFile(source);
  if (way === "raw-loop" && source.format !== "raw") return `the image is ${source.format}, not raw`;
  if (way === "raw-loop")
    return (await system.exists("/dev/loop-control")) ? undefined : "/dev/loop-control is missing";
  if (way === "nbd") return await probeNbd(system);
  return way === "fuse-export" ? await probeFuseExport(system) : await probeNbdFuse(system, folder);
}

/** Makes the disk inside an image readable by the kernel. */
export async function exposeDisk(
  way: Way,
  system: RootSystem,
  folder: RootFolder,
  request: { readonly image: string; readonly node: BlockNode; readonly writable: boolean },
): Promise<ExposedDisk> {
  if (way === "erofs-file" || way === "raw-loop") return { disk: request.image };
  if (way === "fuse-export")
    return { disk: folder.disk, daemon: await exportByFuse(system, folder, request) };
  if (way === "nbd-fuse") return { disk: folder.disk, ...(await exportByNbdFuse(system, folder, request)) };
  const { device, daemon } = await connectNbd(system, folder, request);
  return { disk: device, daemon };
}

/** The error where every way was passed over. */
export function noWay(image: string, passedOver: readonly PassedOver[]): RootfsError {
  const reasons = passedOver.map(({ way, reason }) => `${way}: ${reason}`).join("; ");
  return new RootfsError("NO_WAY", `${image} cannot be mounted on this machine (${reasons})`, {
    path: image,
    hint: "Load the nbd module, or install qemu-system-common (or qemu-utils and libnbd-bin) and give the machine /dev/fuse and /dev/loop-control.",
  });
}
