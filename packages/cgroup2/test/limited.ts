import { closeSync, openSync } from "node:fs";
import { type NativeChild, spawnNative } from "@drums/nsexec";
import {
  controllersFor,
  createGroup,
  enableControllers,
  type Group,
  type Limits,
  readHierarchy,
  setLimits,
} from "../src/index.js";
import { freshName } from "./support.js";

/** Runs `body` with a group on a hierarchy that has every controller, limited as asked; it is gone afterwards. */
export async function withLimited(limits: Limits, body: (group: Group) => Promise<void>): Promise<void> {
  const group = await createGroup({ hierarchy: await readHierarchy(), path: ["drums", freshName()] });
  try {
    await enableControllers(group, controllersFor(limits));
    const report = await setLimits(group, limits);
    if (!report.enforced) throw new Error(report.reason);
    await body(group);
  } finally {
    await group.kill();
    await group.remove();
  }
}

/** Starts a shell that is born in the group by CLONE_INTO_CGROUP. */
export function born(group: Group, script: string): NativeChild {
  const cgroupFd = group.openFd();
  const nothing = openSync("/dev/null", "r+");
  try {
    const fds = [0, 1, 2].map((target) => ({ source: nothing, target }));
    return spawnNative({
      file: "/bin/sh",
      argv: ["sh", "-c", script],
      env: { PATH: "/usr/bin:/bin" },
      fds,
      cgroupFd,
    });
  } finally {
    closeSync(nothing);
    closeSync(cgroupFd);
  }
}
