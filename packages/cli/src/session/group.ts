import { createGroup, type Group, readHierarchy } from "@drums/cgroup2";
import type { SessionFolder } from "./store.js";

/**
 * A cgroup of the session's own, undefined where the machine has no cgroup2. Never one that was used before:
 * a clone into a group that once saw cgroup.kill loses the child.
 */
export async function createSessionGroup(folder: SessionFolder): Promise<Group | undefined> {
  const hierarchy = await readHierarchy();
  if (hierarchy.mountPoint === undefined) return undefined;
  const path = ["drums", folder.id];
  await folder.journal.acquire({ kind: "cgroup", id: path.join("/") });
  return createGroup({ hierarchy, path });
}
