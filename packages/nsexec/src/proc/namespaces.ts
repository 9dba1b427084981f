import { stat } from "node:fs/promises";
import type { Pid, ProcOptions } from "./read.js";

/** The kinds of namespace, by their names under /proc/PID/ns. */
export const NAMESPACE_KINDS = ["mnt", "pid", "uts", "ipc", "net", "user", "cgroup", "time"] as const;
export type NamespaceKind = (typeof NAMESPACE_KINDS)[number];

/** What identifies a namespace (namespaces(7)): the pair, never the inode alone. */
export interface NamespaceId {
  readonly device: bigint;
  readonly inode: bigint;
}

/** The id of one namespace of a process. Throws Node's own error where the process is gone or closed to us. */
export async function readNamespace(
  pid: Pid,
  kind: NamespaceKind,
  options: ProcOptions = {},
): Promise<NamespaceId> {
  const { proc = "/proc" } = options;
  const { dev, ino } = await stat(`${proc}/${pid}/ns/${kind}`, { bigint: true });
  return { device: dev, inode: ino };
}

/** The namespaces a process is in. Throws as {@link readNamespace} does. */
export async function readNamespaces(
  pid: Pid,
  options: ProcOptions = {},
): Promise<Record<NamespaceKind, NamespaceId>> {
  const ids = await Promise.all(NAMESPACE_KINDS.map((kind) => readNamespace(pid, kind, options)));
  const entries = NAMESPACE_KINDS.map((kind, index) => [kind, ids[index]] as const);
  return Object.fromEntries(entries) as Record<NamespaceKind, NamespaceId>;
}

/** Whether two ids mean one namespace. */
export function sameNamespace(a: NamespaceId, b: NamespaceId): boolean {
  return a.device === b.device && a.inode === b.inode;
}
