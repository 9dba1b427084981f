import { join } from "node:path";
import { whyUnavailable } from "./controllers.js";
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
