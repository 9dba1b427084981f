import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { MountInfo } from "@drums/nsexec/proc";
import { RootfsError } from "../errors.js";
import type { LayerDescription } from "./layers.js";

export interface VerifyOverlayOptions {
  /** The layers, from describeLayers: with them a fallback is reported by the layer's name. */
  readonly layers?: readonly LayerDescription[];
  /** The upper that the overlay must have. */
  readonly upper?: string;
  /**
   * The module's defaults: the kernel shows an option only where it differs from them.
   * Default: both off, as kernels are built. See readOverlayDefaults.
   */
  readonly defaults?: OverlayDefaults;
}

export interface OverlayDefaults {
  readonly index: boolean;
  readonly nfsExport: boolean;
}

/** What the kernel really mounted. */
export interface OverlayReport {
  /** Both options hold, and the upper is the expected one. */
  readonly ok: boolean;
  readonly index: boolean;
  readonly nfsExport: boolean;
  /** For each layer that may have made the kernel drop the options: its name and why. */
  readonly fellBack: readonly string[];
  /** The report as one sentence. */
  readonly detail: string;
}

/**
 * Reads back from mountinfo whether `index` and `nfs_export` are on. The kernel drops them in silence when
 * two lower file systems have the same UUID or none, or cannot give file handles
 * (ovl_lower_uuid_ok and ovl_lower_dir in fs/overlayfs/super.c).
 *
 * @throws RootfsError OVERLAY_NOT_FOUND
 */
export function verifyOverlay(
  mountinfo: readonly MountInfo[],
  mountPoint: string,
  { layers = [], upper, defaults = { index: false, nfsExport: false } }: VerifyOverlayOptions = {},
): OverlayReport {
  const mount = mountinfo.filter((candidate) => candidate.mountPoint === mountPoint).at(-1);
  if (mount?.fsType !== "overlay")
    throw new RootfsError("OVERLAY_NOT_FOUND", `no overlay is mounted at ${mountPoint}`, {
      path: mountPoint,
      hint: "Read the mountinfo of a process that sees the overlay.",
      facts: { found: mount?.fsType },
    });
  const index = isOn(mount, "index", defaults.index);
  const nfsExport = isOn(mount, "nfs_export", defaults.nfsExport);
  const fellBack = index && nfsExport ? [] : suspects(layers);
  const rightUpper = upper === undefined || mount.superOptions.includes(`upperdir=${upper}`);
  const ok = index && nfsExport && rightUpper;
  return {
    ok,
    index,
    nfsExport,
    fellBack,
    detail: describe({ index, nfsExport, rightUpper, fellBack, upper }),
  };
}

/** The overlay module's defaults for the two options. */
export async function readOverlayDefaults({
  sysfs = "/sys",
}: {
  readonly sysfs?: string;
} = {}): Promise<OverlayDefaults> {
  const parameter = async (name: string) => {
    const text = await readFile(join(sysfs, "module/overlay/parameters", name), "utf8").catch(() => "N");
    return text.trim() === "Y";
  };
  return { index: await parameter("index"), nfsExport: await parameter("nfs_export") };
}

function isOn(mount: MountInfo, option: string, byDefault: boolean): boolean {
  if (mount.superOptions.includes(`${option}=on`)) return true;
  return byDefault && !mount.superOptions.includes(`${option}=off`);
}

/** Layers whose file system breaks one of the kernel's rules. */
function suspects(layers: readonly LayerDescription[]): string[] {
  const found: string[] = [];
  for (const layer of layers) {
    const twin = layers.find(
      (other) => other.device !== layer.device && other.uuid !== undefined && other.uuid === layer.uuid,
    );
    if (twin && layer.uuid === "")
      found.push(`${layer.name}: its ${layer.fsType} has no UUID, nor has ${twin.name}'s`);
    else if (twin) found.push(`${layer.name}: its ${layer.fsType} has the same UUID as ${twin.name}'s`);
    else if (/^(fuse|9p|virtiofs)/.test(layer.fsType))
      found.push(`${layer.name}: ${layer.fsType} gives no file handles`);
  }
  return found;
}

function describe({
  index,
  nfsExport,
  rightUpper,
  fellBack,
  upper,
}: Pick<OverlayReport, "index" | "nfsExport" | "fellBack"> & {
  readonly rightUpper: boolean;
  readonly upper: string | undefined;
}): string {
  const options = `index=${index ? "on" : "off"}, nfs_export=${nfsExport ? "on" : "off"}`;
  const why = fellBack.length > 0 ? `; the kernel fell back (${fellBack.join("; ")})` : "";
  const unknown = (!index || !nfsExport) && fellBack.length === 0 ? "; the kernel's log has the layer" : "";
  const other = rightUpper ? "" : `; its upper is not ${upper}`;
  return `${options}${why}${unknown}${other}`;
}
