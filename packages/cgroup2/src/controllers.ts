import { join } from "node:path";
import { readIfThere } from "./errno.js";
import type { Group } from "./group.js";
import { type Hierarchy, words } from "./hierarchy.js";
import { mountPointOf, parentFolders } from "./paths.js";

/** Why something is not so, and how to change that. */
export interface Gap {
  readonly reason: string;
  readonly remedy: string;
}

/** What stops a controller on its way down to a group. */
export interface ControllerStop extends Gap {
  /** The control file of the ancestor that would refuse it. */
  readonly file: string;
  /** The errno that a write there would give. */
  readonly errno: "EACCES" | "EBUSY" | "EOPNOTSUPP";
}

/** How far a controller reaches; see {@link controllerStatus}. */
export interface ControllerStatus {
  /** Whether the top group that this process sees offers it. */
  readonly available: boolean;
  /** Whether this process may enable it in every group on the way down where it is not. */
  readonly delegated: boolean;
  /** Whether every group on the way down enables it already. */
  readonly enabled: boolean;
  /** The ancestor that stops it, if any. */
  readonly stop?: ControllerStop;
  /** Why it cannot be had, be it not available or stopped. */
  readonly gap?: Gap;
}

/** Which controller for which group, be the group there or not. */
export interface ControllerQuestion {
  readonly hierarchy: Hierarchy;
  /** The group's names from the hierarchy's root down. */
  readonly path: readonly string[];
  readonly controller: string;
}

/**
 * Says whether a controller is available, delegated and enabled for a group, and which ancestor stops it. It reads only.
 *
 * @throws CgroupError `REFUSED` where a group on the way cannot be read
 */
export function controllerStatus({ hierarchy, path, controller }: ControllerQuestion): ControllerStatus {
  const missing = whyUnavailable(hierarchy, controller);
  if (missing !== undefined) return { available: false, delegated: false, enabled: false, gap: missing };
  const lacking = foldersAbove(hierarchy, path).filter(
    (folder) => !isEnabled(hierarchy, { folder, controller }),
  );
  for (const folder of lacking) {
    const stop = stopAt(hierarchy, folder, controller);
    if (stop === undefined) continue;
    return { available: true, delegated: stop.errno !== "EACCES", enabled: false, stop, gap: stop };
  }
  return { available: true, delegated: true, enabled: lacking.length === 0 };
}

/** Why a controller cannot be used, and how to change that; undefined where the hierarchy's root offers it. */
export function whyUnavailable(hierarchy: Hierarchy, controller: string): Gap | undefined {
  if (hierarchy.controllers.includes(controller)) return undefined;
  if (hierarchy.mountPoint === undefined)
    return { reason: "cgroup2 is not mounted", remedy: "boot with systemd.unified_cgroup_hierarchy=1" };
  const holder = hierarchy.heldByV1[controller];
  if (holder !== undefined)
    return {
      reason: `the ${controller} controller is held by the v1 hierarchy at ${holder}`,
      remedy: "boot with systemd.unified_cgroup_hierarchy=1 or cgroup_no_v1=all",
    };
  return {
    reason: `${hierarchy.mountPoint}/cgroup.controllers does not offer ${controller}`,
    remedy:
      hierarchy.mountRoot === "/" && hierarchy.ownPath === "/"
        ? `see /proc/cgroups: a kernel built without it, or booted with cgroup_disable=${controller}`
        : "have the controller delegated to this subtree (systemd: Delegate=yes)",
  };
}

/** Why a group does not have a controller, by the first group above that does not hand it down. */
export function whyDisabled({ hierarchy, parts }: Group, controller: string): string {
  const missing = whyUnavailable(hierarchy, controller);
  if (missing !== undefined) return missing.reason;
  const folder = foldersAbove(hierarchy, parts).find(
    (above) => !isEnabled(hierarchy, { folder: above, controller }),
  );
  if (folder === undefined) return `the ${controller} controller was enabled only a moment ago`;
  return `the ${controller} controller is not enabled in ${join(folder, "cgroup.subtree_control")}`;
}

function foldersAbove(hierarchy: Hierarchy, parts: readonly string[]): string[] {
  return [mountPointOf(hierarchy), ...parentFolders({ hierarchy, parts })];
}

function isEnabled(
  { files }: Hierarchy,
  { folder, controller }: { readonly folder: string; readonly controller: string },
): boolean {
  return words(readIfThere(files, join(folder, "cgroup.subtree_control")) ?? "").includes(controller);
}

/** Controllers that may be enabled beside processes and in threaded groups (`.threaded` in the kernel's sources). */
const THREADED = ["cpu", "cpuset", "perf_event", "pids"];

/** What the kernel would say (cgroup_vet_subtree_control_enable in kernel/cgroup/cgroup.c). */
function stopAt(hierarchy: Hierarchy, folder: string, controller: string): ControllerStop | undefined {
  const { files } = hierarchy;
  const file = join(folder, "cgroup.subtree_control");
  // One that is still to be made refuses nothing.
  if (readIfThere(files, file) === undefined) return undefined;
  if (!files.isWritable(file)) return { file, errno: "EACCES", ...notDelegated(hierarchy, folder) };
  const type = readIfThere(files, join(folder, "cgroup.type"))?.trim();
  // The root of all has no type, and takes processes and controllers at once.
  if (type === undefined || THREADED.includes(controller)) return undefined;
  if (type !== "domain")
    return {
      file,
      errno: "EOPNOTSUPP",
      reason: `${folder} is ${type}, where ${controller} cannot be enabled`,
      remedy: "make the group outside of threaded subtrees",
    };
  if (files.read(join(folder, "cgroup.procs")).trim() === "") return undefined;
  return {
    file,
    errno: "EBUSY",
    reason: `${folder} holds processes itself, so that ${controller} cannot be enabled below it`,
    remedy: "move its processes into a child group first",
  };
}

function notDelegated({ ownPath }: Hierarchy, folder: string): Gap {
  const unit = ownPath
    .split("/")
    .reverse()
    .find((part) => /\.(service|scope)$/.test(part));
  return {
    reason: `${folder} is not delegated to this user: its cgroup.subtree_control cannot be written`,
    remedy:
      unit === undefined
        ? "run as root, or have a subtree delegated: systemd-run --scope -p Delegate=yes COMMAND"
        : `run as root, or have systemd delegate it: systemctl edit ${unit}, with Delegate=yes under [Service] or [Scope], and work below ${ownPath}`,
  };
}
