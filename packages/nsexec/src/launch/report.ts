import { NsexecError } from "../errors.js";
import type { NamespaceId, NamespaceKind } from "../proc/namespaces.js";
import { decodeField } from "./control.js";

/** What the session's PID 1 says of itself, from inside its root, before anything else runs there. */
export interface StageTwoReport {
  /** Its own pid there: 1. */
  readonly pid: number;
  /**
   * Raw /proc/self/cgroup, read by the same process just before it entered its cgroup namespace: whole
   * paths, to be compared with cgroup.procs.
   */
  readonly cgroup: string;
  /** Raw /proc/self/cgroup as it reads afterwards; the same without a cgroup namespace. */
  readonly cgroupInside: string;
  readonly mountinfo: string;
  /** Raw /proc/self/uid_map. */
  readonly uidMap: string;
  /** Raw /proc/self/status: capabilities, seccomp, no_new_privs, ids. */
  readonly status: string;
  /** /proc/sys/kernel/pid_max as it reads inside. */
  readonly pidMax: number;
  readonly namespaces: Readonly<Record<NamespaceKind, NamespaceId>>;
}

/** Puts the `part` packets together. @throws NsexecError code LAUNCH_FAILED where one is missing */
export function assembleReport(parts: ReadonlyMap<string, string>): StageTwoReport {
  const part = (name: string): string => {
    const text = parts.get(name);
    if (text !== undefined) return decodeField(text);
    throw new NsexecError("LAUNCH_FAILED", `the report has no part ${name}`, { step: "report", path: name });
  };
  const status = part("status");
  return {
    pid: Number(/^Pid:\s*(\d+)$/m.exec(status)?.[1] ?? Number.NaN),
    cgroup: part("host-cgroup"),
    cgroupInside: part("cgroup"),
    mountinfo: part("mountinfo"),
    uidMap: part("uid-map"),
    status,
    pidMax: Number(part("pid-max")),
    namespaces: parseNamespaces(part("namespaces")),
  };
}

function parseNamespaces(text: string): Record<NamespaceKind, NamespaceId> {
  const entries = text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" "))
    .map(([kind, device = "0", inode = "0"]) => [kind, { device: BigInt(device), inode: BigInt(inode) }]);
  return Object.fromEntries(entries) as Record<NamespaceKind, NamespaceId>;
}
