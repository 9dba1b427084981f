import { openGroup, readHierarchy } from "@drums/cgroup2";
import { codeOf } from "../errors.js";
import type { SessionRecord } from "./record.js";

/** What a session's cgroup uses and what its limits have refused it; a part that no controller counts is left out. */
export interface SessionUsage {
  readonly memoryBytes?: number;
  readonly cpuUsec?: number;
  readonly pids?: number;
  /** Processes that the kernel killed for the memory limit. */
  readonly oomKills?: number;
  /** Forks that the limit of processes refused. */
  readonly pidsRefused?: number;
}

/** Reads what a session's cgroup counts; undefined where it has none. */
export async function sessionUsage({ cgroup }: SessionRecord): Promise<SessionUsage | undefined> {
  if (cgroup === undefined) return undefined;
  try {
    const stats = (await openGroup({ hierarchy: await readHierarchy(), path: cgroup })).stats();
    const { memoryCurrentBytes: memoryBytes, pidsCurrent: pids, memoryEvents, pidsRefused, cpu } = stats;
    const oomKills = memoryEvents?.oomKill;
    const parts = { memoryBytes, cpuUsec: cpu?.usageUsec, pids, oomKills, pidsRefused };
    return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
  } catch (error) {
    if (codeOf(error) === "NO_GROUP") return undefined;
    throw error;
  }
}
