import { RootfsError } from "../errors.js";

/** mount(2) copies one page; its last byte is a NUL. */
const MAX_OPTION_BYTES = 4095;
/** OVL_MAX_STACK of fs/overlayfs. */
const MAX_LOWERS = 500;

export interface OverlayPaths {
  /** From top to bottom: what comes first hides what comes later. Absolute. */
  readonly lowers: readonly string[];
  /** The writable layer and its work folder, on one file system. Both or none. */
  readonly upper?: string;
  readonly work?: string;
}

export interface OverlayMountPaths extends OverlayPaths {
  readonly upper: string;
  readonly work: string;
  /** Where the overlay appears. */
  readonly target: string;
}

/** A step for a launch plan of @drums/nsexec, or the arguments of mount(2). */
export interface OverlayMountStep {
  readonly kind: "mount";
  readonly fsType: "overlay";
  readonly source: "overlay";
  readonly target: string;
  readonly options: ["nodev"];
  readonly data: string;
}

/**
 * The option string of an overlay with `index=on,nfs_export=on`: only then do file handles of its files
 * decode, and CRIU can dump inotify watches on them without walking the tree.
 *
 * Paths may hold commas, colons and backslashes: overlayfs takes each behind a backslash
 * (ovl_next_opt, ovl_unescape and ovl_parse_param_split_lowerdirs in fs/overlayfs).
 *
 * @throws RootfsError OVERLAY_TOO_LONG, OVERLAY_TOO_MANY_LAYERS, BAD_PATH
 */
export function overlayOptions({ lowers, upper, work }: OverlayPaths): string {
  if (lowers.length === 0 || (upper === undefined) !== (work === undefined))
    throw new RootfsError(
      "BAD_PATH",
      "an overlay needs a lower layer, and an upper and a work folder together",
      {
        hint: "Give at least one lower, and both or neither of upper and work.",
      },
    );
  if (lowers.length > MAX_LOWERS)
    throw new RootfsError(
      "OVERLAY_TOO_MANY_LAYERS",
      `${lowers.length} lower layers (${MAX_LOWERS} are possible)`,
      {
        hint: "Merge layers into one folder.",
        facts: { lowers: lowers.length },
      },
    );
  const lower = lowers.map((path) => escapePath(path, /[\\,:]/g)).join(":");
  const writable =
    upper === undefined || work === undefined
      ? ""
      : `,upperdir=${escapePath(upper, /[\\,]/g)},workdir=${escapePath(work, /[\\,]/g)}`;
  const options = `lowerdir=${lower}${writable},index=on,nfs_export=on`;
  const bytes = Buffer.byteLength(options);
  if (bytes <= MAX_OPTION_BYTES) return options;
  throw new RootfsError(
    "OVERLAY_TOO_LONG",
    `the overlay's options take ${bytes} bytes (${MAX_OPTION_BYTES} fit)`,
    {
      hint: "Use a shorter state folder, fewer layers, or merge layers into one folder.",
      facts: { bytes, lowers: lowers.length },
    },
  );
}

/** The same as a step of a launch plan. Mounted nodev; set-user-id stays, the plan says who may use it. */
export function overlayMountStep(paths: OverlayMountPaths): OverlayMountStep {
  const { target } = paths;
  const data = overlayOptions(paths);
  return { kind: "mount", fsType: "overlay", source: "overlay", target, options: ["nodev"], data };
}

function escapePath(path: string, special: RegExp): string {
  if (!path.startsWith("/") || path.includes("\0"))
    throw new RootfsError("BAD_PATH", `${JSON.stringify(path)} is not an absolute path`, {
      path,
      hint: "Give layers by absolute paths: the mount may happen in another folder.",
    });
  return path.replace(special, "\\$&");
}
