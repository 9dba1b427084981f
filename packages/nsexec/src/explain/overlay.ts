import type { LaunchPlan, MountStep } from "../plan/schema.js";
import type { ExplainSystem, Explanation } from "./types.js";

/** The folders of an overlay's options, as the host names them. */
export interface OverlayFolders {
  /** Top first. */
  readonly lowers: readonly string[];
  readonly upper?: string;
  readonly work?: string;
}

/** fs/overlayfs/params.h: OVL_MAX_STACK. */
const MAX_LOWERS = 500;
/** fs/overlayfs/super.c: FILESYSTEM_MAX_STACK_DEPTH is 2, so an overlay of an overlay is the last. */
const OVERLAY_MAGIC = 0x794c7630n;

/**
 * Reads the folders out of overlayfs options as this project writes them (no escapes). A lower that is a
 * `layer` step's target is named by that step's source.
 */
export function overlayFolders(data: string, plan?: Pick<LaunchPlan, "hostMounts">): OverlayFolders {
  const value = (key: string) => new RegExp(`(?:^|,)${key}=([^,]*)`).exec(data)?.[1];
  const sources = new Map(
    (plan?.hostMounts ?? []).flatMap((step) => (step.kind === "layer" ? [[step.target, step.source]] : [])),
  );
  const lowers = (value("lowerdir") ?? "").split(":").filter((path) => path !== "");
  const upper = value("upperdir");
  const work = value("workdir");
  return {
    lowers: lowers.map((path) => sources.get(path) ?? path),
    ...(upper === undefined ? {} : { upper }),
    ...(work === undefined ? {} : { work }),
  };
}

/** The overlay among a plan's host mounts that was to stand at `target`. */
export function overlayAt(
  target: string,
  plan: Pick<LaunchPlan, "hostMounts" | "insideMounts"> | undefined,
): string | undefined {
  const steps: readonly MountStep[] = plan ? [...plan.hostMounts, ...plan.insideMounts] : [];
  const found = steps.find((step) => step.kind === "mount" && step.target === target);
  return found?.kind === "mount" && found.fsType === "overlay" ? (found.data ?? "") : undefined;
}

/**
 * Why overlayfs refused its folders: mount(2) has a handful of numbers for a dozen causes. The rules are
 * those of fs/overlayfs/{params,super}.c of Linux 6.18 and Documentation/filesystems/overlayfs.rst.
 */
export function explainOverlay(
  folders: OverlayFolders,
  errno: string,
  system: ExplainSystem,
): Explanation | undefined {
  switch (errno) {
    case "ESTALE":
      return {
        reason: "OVERLAY_UPPER_OF_ANOTHER_STACK",
        hint: "This upper or work folder was used with other layers before: take fresh ones for each stack of layers.",
      };
    case "EBUSY":
      return {
        reason: "OVERLAY_IN_USE",
        hint: "The upper, the work folder or a lower is the upper of a live overlay: end that session, or copy its upper first.",
      };
    case "ELOOP":
      return {
        reason: "OVERLAY_FOLDERS_NESTED",
        hint: "Two of the layers are the same folder or lie within one another: give each its own.",
      };
    case "ENOENT":
      return missing(folders, system);
    case "EINVAL":
      return CAUSES_OF_EINVAL.map((cause) => cause(folders, system)).find((found) => found !== undefined);
    default:
      return undefined;
  }
}

function missing(folders: OverlayFolders, system: ExplainSystem): Explanation | undefined {
  const path = all(folders).find((folder) => system.look(folder) === undefined);
  if (path === undefined) return undefined;
  return { reason: "OVERLAY_FOLDER_MISSING", hint: `There is no folder ${path}.` };
}

type Cause = (folders: OverlayFolders, system: ExplainSystem) => Explanation | undefined;

/** In the order in which the kernel looks. */
const CAUSES_OF_EINVAL: readonly Cause[] = [
  ({ lowers }) =>
    lowers.length > MAX_LOWERS
      ? {
          reason: "OVERLAY_TOO_MANY_LAYERS",
          hint: `overlayfs takes ${MAX_LOWERS} lower layers, not ${lowers.length}: merge some of them.`,
        }
      : undefined,
  (folders, system) => {
    const path = all(folders).find((folder) => system.look(folder)?.folder === false);
    return path === undefined
      ? undefined
      : { reason: "OVERLAY_NOT_A_FOLDER", hint: `${path} is no folder, and a layer must be one.` };
  },
  ({ upper, work }) =>
    upper !== undefined && work !== undefined && nested(upper, work)
      ? {
          reason: "OVERLAY_WORK_NESTED",
          hint: "The upper and the work folder lie within one another: put them side by side.",
        }
      : undefined,
  ({ upper, work }, system) =>
    upper !== undefined && work !== undefined && system.look(upper)?.device !== system.look(work)?.device
      ? {
          reason: "OVERLAY_WORK_ELSEWHERE",
          hint: `The work folder ${work} must be on the filesystem of the upper ${upper}.`,
        }
      : undefined,
  ({ upper }, system) =>
    upper !== undefined && system.look(upper)?.fsMagic === OVERLAY_MAGIC
      ? {
          reason: "OVERLAY_UPPER_ON_OVERLAY",
          hint: `${upper} is itself on an overlay (a container's own root often is): put it on ext4, xfs, btrfs or tmpfs.`,
        }
      : undefined,
  ({ lowers }, system) =>
    lowers.some((lower) => system.look(lower)?.fsMagic === OVERLAY_MAGIC)
      ? {
          reason: "OVERLAY_TOO_DEEP",
          hint: "A lower is an overlay of an overlay, and the kernel stacks two: name the layers below it one by one.",
        }
      : undefined,
  ({ upper }, system) =>
    upper !== undefined && isReadOnly(upper, system)
      ? { reason: "OVERLAY_UPPER_READ_ONLY", hint: `The filesystem of ${upper} is mounted read-only.` }
      : undefined,
  () => ({
    reason: "OVERLAY_REFUSED",
    hint: "The kernel knows an option or a filesystem of this overlay not to work as asked: the last lines of dmesg that begin with overlayfs name it.",
  }),
];

function all({ lowers, upper, work }: OverlayFolders): string[] {
  return [...lowers, upper, work].filter((path) => path !== undefined);
}

function nested(one: string, other: string): boolean {
  return `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);
}

/** The mount that a path is on: the longest mount point that it begins with. */
function isReadOnly(path: string, system: ExplainSystem): boolean {
  const mounts = (system.readText("/proc/self/mountinfo") ?? "")
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, , , , point = ""]) => point === "/" || `${path}/`.startsWith(`${point}/`))
    .sort(([, , , , a = ""], [, , , , b = ""]) => a.length - b.length);
  return (mounts.at(-1)?.[5] ?? "").split(",").includes("ro");
}
