import { stat } from "node:fs/promises";

/** The kinds of namespace, by their names under /proc/PID/ns. */
export const NAMESPACE_KINDS = ["mnt", "pid", "uts", "ipc", "net", "user", "cgroup", "time"] as const;
export type NamespaceKind = (typeof NAMESPACE_KINDS)[number];

/** What identifies a namespace (namespaces(7)): the pair, never the inode alone. */
export interface NamespaceId {
  readonly device: bigint;
  readonly inode: bigint;
}

/** Where the /proc to read is mounted. */
export interface ProcOptions {
  /** Default "/proc". */
  readonly proc?: string;
}

/** The namespaces a process is in. Throws Node's own error where the process is gone (ENOENT) or closed to us. */
export async function readNamespaces(
  pid: number | "self",
  options: ProcOptions = {},
): Promise<Record<NamespaceKind, NamespaceId>> {
  const { proc = "/proc" } = options;
  const entries = NAMESPACE_KINDS.map(async (kind) => {
    const { dev, ino } = await stat(`${proc}/${pid}/ns/${kind}`, { bigint: true });
    return [kind, { device: dev, inode: ino }] as const;
  });
  return Object.fromEntries(await Promise.all(entries)) as Record<NamespaceKind, NamespaceId>;
}

/** Whether two ids mean one namespace. */
export function sameNamespace(a: NamespaceId, b: NamespaceId): boolean {
  return a.device === b.device && a.inode === b.inode;
}
