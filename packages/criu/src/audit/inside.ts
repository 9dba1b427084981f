import { closeSync, openSync, readFileSync } from "node:fs";
import type { MountInfo } from "@drums/nsexec/proc";

/** open(2) on x86-64 and arm64; node:fs has no name for it. Such an open looks at no content and waits for nothing. */
const O_PATH = 0o10000000;

/** Whose mounts are looked into. */
export interface MountsOf {
  readonly initPid: number;
  readonly proc: string;
}

/**
 * Runs `use` with a path of the host that leads into a session's mount, or gives undefined where it cannot be had. The
 * session may have put a link on the way since its mounts were read, and the host would follow it to a folder of its own:
 * what was opened counts only if it is on that very mount (fdinfo's mnt_id, proc(5)).
 */
export function inMount<T>(
  mount: MountInfo,
  { initPid, proc }: MountsOf,
  use: (path: string) => T,
): T | undefined {
  let fd: number;
  try {
    fd = openSync(`${proc}/${initPid}/root${mount.mountPoint}`, O_PATH);
  } catch {
    return undefined;
  }
  try {
    const mountId = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
    return Number(mountId) === mount.mountId ? use(`/proc/self/fd/${fd}`) : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}
