import { sys } from "@drums/nsexec";
import { readMountinfo } from "@drums/nsexec/proc";
import { RootfsError, reasonOf, systemCode } from "../errors.js";
import { describeLayers } from "./layers.js";
import { type OverlayMountPaths, overlayMountStep } from "./options.js";
import { type OverlayReport, readOverlayDefaults, verifyOverlay } from "./verify.js";

/** What {@link mountOverlay} takes beside the paths. */
export interface MountOverlayOptions {
  /** A name for each lower, for the report of a fallback. Default: their paths. */
  readonly names?: readonly string[];
}

/**
 * Mounts an overlay in the caller's mount namespace and reads back what the kernel made of it: a fallback is no
 * error, the report names it. The mount is the caller's to undo by umount2.
 *
 * @throws RootfsError OVERLAY_UPPER_STALE, OVERLAY_UPPER_BUSY, OVERLAY_FAILED, and those of overlayOptions
 */
export async function mountOverlay(
  paths: OverlayMountPaths,
  { names = paths.lowers }: MountOverlayOptions = {},
): Promise<OverlayReport> {
  const { target, source, fsType, data } = overlayMountStep(paths);
  try {
    sys.mount(target, { source, fsType, flags: sys.MS.NODEV, data });
  } catch (cause) {
    throw overlayFailed(paths, cause);
  }
  const layers = await describeLayers(
    paths.lowers.map((path, index) => ({ name: names[index] ?? path, path })),
  );
  const defaults = await readOverlayDefaults();
  return verifyOverlay(await readMountinfo("self"), target, { layers, upper: paths.upper, defaults });
}

/** By the errors of ovl_fill_super and what it calls, with `index=on` (fs/overlayfs/super.c). */
function overlayFailed({ upper, target }: OverlayMountPaths, cause: unknown): RootfsError {
  const code = systemCode(cause);
  if (code === "ESTALE")
    return new RootfsError("OVERLAY_UPPER_STALE", `the upper ${upper} was used with other layers before`, {
      path: upper,
      hint: "Give an empty upper and work folder (freshUpper), or the layers that it was used with.",
      cause,
    });
  if (code === "EBUSY")
    return new RootfsError(
      "OVERLAY_UPPER_BUSY",
      `another overlay is using the upper ${upper} or its work folder`,
      {
        path: upper,
        hint: "Unmount that one first (it may be in another mount namespace), or give an upper of its own.",
        cause,
      },
    );
  return new RootfsError("OVERLAY_FAILED", `cannot mount an overlay at ${target}: ${reasonOf(cause)}`, {
    path: target,
    hint: "Upper and work must be on one local file system that keeps trusted.* attributes; the kernel's log (`dmesg`) has its reason.",
    facts: { code },
    cause,
  });
}
