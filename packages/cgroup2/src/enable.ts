import { join } from "node:path";
import { CgroupError } from "./errors.js";
import type { Group } from "./group.js";
import { type Hierarchy, words } from "./hierarchy.js";
import { mountPointOf, parentFolders } from "./paths.js";

/**
 * Enables controllers for a group: in each group above it, from the root down, one controller at a time, each
 * read back. What is enabled already is left as it is.
 *
 * @throws CgroupError `CONTROLLER_UNAVAILABLE` (the root does not offer it: `hint` says who holds it), or
 *   `CONTROLLER_REFUSED` with the exact file that refused and the errno
 */
export async function enableControllers(group: Group, controllers: readonly string[]): Promise<void> {
  for (const controller of controllers) {
    const missing = whyUnavailable(group.hierarchy, controller);
    if (missing !== undefined) throw unavailable(controller, missing, mountPointOf(group.hierarchy));
    for (const folder of [mountPointOf(group.hierarchy), ...parentFolders(group)])
      enableOne(group.hierarchy, folder, controller);
  }
}

/** Why a controller cannot be used, and how to change that; undefined where the hierarchy's root offers it. */
export function whyUnavailable(
  hierarchy: Hierarchy,
  controller: string,
): { readonly reason: string; readonly remedy: string } | undefined {
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

function enableOne(hierarchy: Hierarchy, folder: string, controller: string): void {
  const { files } = hierarchy;
  const file = join(folder, "cgroup.subtree_control");
  const enabled = () => words(files.read(file)).includes(controller);
  if (enabled()) return;
  try {
    files.write(file, `+${controller}`);
  } catch (error) {
    if (!(error instanceof CgroupError)) throw error;
    throw new CgroupError("CONTROLLER_REFUSED", `cannot enable ${controller}: ${error.message}`, {
      hint: error.hint,
      path: file,
      errno: error.errno,
      syscall: error.syscall,
      controller,
      cause: error,
    });
  }
  if (enabled()) return;
  throw new CgroupError("CONTROLLER_REFUSED", `${file} took +${controller} but does not list it`, {
    hint: "another manager of cgroups (systemd, a container runtime) may have taken it back: have the subtree delegated",
    path: file,
    controller,
  });
}

function unavailable(
  controller: string,
  missing: { reason: string; remedy: string },
  path: string,
): CgroupError {
  return new CgroupError("CONTROLLER_UNAVAILABLE", `cannot enable ${controller}: ${missing.reason}`, {
    hint: missing.remedy,
    path,
    controller,
  });
}
