import { createGroup, type Group, readHierarchy } from "@drums/cgroup2";
import { type LimitRequest, limitGroup, SESSION_GROUPS } from "./limits.js";
import type { SessionFolder } from "./store.js";

/**
 * A cgroup of the session's own with its limits set, undefined where the machine has no cgroup2. Never one that was used before:
 * a clone into a group that once saw cgroup.kill loses the child.
 */
export async function createSessionGroup(
  folder: SessionFolder,
  spec: LimitRequest,
): Promise<Group | undefined> {
  const hierarchy = await readHierarchy();
  if (hierarchy.mountPoint === undefined) return undefined;
  const path = [SESSION_GROUPS, folder.id];
  await folder.journal.acquire({ kind: "cgroup", id: path.join("/") });
  const group = await createGroup({ hierarchy, path });
  await limitGroup(group, spec);
  return group;
}
