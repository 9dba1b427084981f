import { readMountinfo } from "@drums/nsexec/proc";
import { RootfsError } from "../errors.js";
import { isAlive } from "./daemon.js";
import type { RootFacts } from "./mounted-root.js";

/**
 * Says whether a mounted root can still be read: its daemon, told from a later process by its start
 * time, is alive and its mount stands. Without the daemon nothing hangs; what is not cached reads as EIO.
 *
 * @throws RootfsError DAEMON_LOST, NO_SUCH_ROOT
 */
export async function checkRoot(root: RootFacts): Promise<void> {
  const { daemonPid, daemonStartTime } = root;
  if (daemonPid !== undefined && daemonStartTime !== undefined)
    if (!(await isAlive({ pid: daemonPid, startTime: daemonStartTime }))) throw daemonLost(root);
  const mounts = await readMountinfo("self");
  if (mounts.some(({ mountPoint }) => mountPoint === root.path)) return;
  throw new RootfsError("NO_SUCH_ROOT", `the root of ${root.image} is no longer mounted at ${root.path}`, {
    path: root.path,
    hint: "Somebody unmounted it: release it and mount it again.",
  });
}

function daemonLost({ image, path, way, daemonPid }: RootFacts): RootfsError {
  const program = way === "nbd" ? "qemu-nbd" : "qemu-storage-daemon";
  return new RootfsError(
    "DAEMON_LOST",
    `${program} (pid ${daemonPid}), which serves ${image}, has died; sessions on it read EIO`,
    {
      path,
      hint: "End the sessions on this root and start them anew: the next mountRoot mends the export. The kernel's log tells of an OOM kill.",
      facts: { daemonPid },
    },
  );
}
