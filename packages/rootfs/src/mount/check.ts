import { readMountinfo } from "@drums/nsexec/proc";
import { RootfsError } from "../errors.js";
import { isAlive } from "./daemon.js";
import type { RootFacts } from "./mounted-root.js";
import type { Way } from "./record.js";

/**
 * Says whether a mounted root can still be read: its daemon, told from a later process by its start
 * time, is alive and its mount stands. Without the daemon nothing hangs; what is not cached reads as EIO.
 *
 * @throws RootfsError DAEMON_LOST, NO_SUCH_ROOT
 */
export async function checkRoot(root: RootFacts): Promise<void> {
  for (const { program, pid, startTime } of processesOf(root))
    if (!(await isAlive({ pid, startTime }))) throw daemonLost(root, { program, pid });
  const mounts = await readMountinfo("self");
  if (mounts.some(({ mountPoint }) => mountPoint === root.path)) return;
  throw new RootfsError("NO_SUCH_ROOT", `the root of ${root.image} is no longer mounted at ${root.path}`, {
    path: root.path,
    hint: "Somebody unmounted it: release it and mount it again.",
  });
}

const DAEMONS: Partial<Record<Way, string>> = {
  nbd: "qemu-nbd",
  "fuse-export": "qemu-storage-daemon",
  "nbd-fuse": "nbdfuse",
};

function processesOf({ way, daemonPid, daemonStartTime, serverPid, serverStartTime }: RootFacts) {
  return [
    { program: DAEMONS[way] ?? way, pid: daemonPid, startTime: daemonStartTime },
    { program: "qemu-nbd", pid: serverPid, startTime: serverStartTime },
  ].flatMap(({ program, pid, startTime }) =>
    pid === undefined || startTime === undefined ? [] : [{ program, pid, startTime }],
  );
}

function daemonLost(
  { image, path }: RootFacts,
  { program, pid }: { readonly program: string; readonly pid: number },
): RootfsError {
  return new RootfsError(
    "DAEMON_LOST",
    `${program} (pid ${pid}), which serves ${image}, has died; sessions on it read EIO`,
    {
      path,
      hint: "End the sessions on this root and start them anew: the next mountRoot mends the export. The kernel's log tells of an OOM kill.",
      facts: { pid },
    },
  );
}
