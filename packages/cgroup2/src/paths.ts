import { join } from "node:path";
import { CgroupError } from "./errors.js";
import type { Hierarchy } from "./hierarchy.js";

/** The mount point of cgroup2; throws `NO_HIERARCHY` where there is none. */
export function mountPointOf(hierarchy: Hierarchy): string {
  if (hierarchy.mountPoint !== undefined) return hierarchy.mountPoint;
  throw new CgroupError("NO_HIERARCHY", "cgroup2 is not mounted on this machine", {
    hint: "mount it: mount -t cgroup2 none /sys/fs/cgroup/unified (or boot with systemd.unified_cgroup_hierarchy=1)",
  });
}

/** The folders of the groups named above a group, from the top down, without the hierarchy's root. */
export function parentFolders(group: {
  readonly hierarchy: Hierarchy;
  readonly parts: readonly string[];
}): string[] {
  const root = mountPointOf(group.hierarchy);
  return group.parts.slice(0, -1).map((_, index) => join(root, ...group.parts.slice(0, index + 1)));
}

/** A name that the kernel could take for a control file, or that leads elsewhere, is refused. */
const SAFE_PART = /^(?!cgroup\.)[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,127}$/;

/** Throws `BAD_PATH` for a group's names that are none. */
export function checkParts(parts: readonly string[]): void {
  const bad = parts.length === 0 ? "" : parts.find((part) => !SAFE_PART.test(part));
  if (bad === undefined) return;
  throw new CgroupError("BAD_PATH", `not a group's name: ${JSON.stringify(bad)}`, {
    hint: "names of letters, digits and _ . : @ - that begin with a letter, a digit or _",
  });
}
