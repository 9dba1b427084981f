import type { PublishedPort } from "@drums/nsexec";
import { listPidNamespace } from "@drums/nsexec/proc";
import type { Home } from "../home.js";
import { type SessionStanding, standingOf } from "./gc.js";
import type { SessionLimits } from "./limits.js";
import { type NetworkStanding, networkStanding } from "./network.js";
import type { SessionRecord } from "./record.js";
import { listSessionIds, sessionFolder } from "./store.js";
import { type SessionUsage, sessionUsage } from "./usage.js";

/** A line of `drums ps`. */
export interface SessionSummary {
  readonly id: string;
  readonly standing: SessionStanding;
  readonly desktop: string;
  readonly profile: string;
  readonly image: string;
  readonly createdAt: string;
  readonly processes: number;
  readonly initPid: number | undefined;
  readonly network: NetworkStanding;
  /** Ports of the host's 127.0.0.1 that lead into it. */
  readonly ports: readonly PublishedPort[];
  readonly hostname: string;
  /** How many restores lie between it and its boot. */
  readonly generation: number;
  /** Of a sibling: the checkpoint that it was restored from. */
  readonly checkpoint: string | undefined;
  readonly limits: SessionLimits | undefined;
  /** Of a running session with a cgroup. */
  readonly usage: SessionUsage | undefined;
}

/** All sessions of a home, the oldest first. A folder whose record cannot be read is left to `drums gc`. */
export async function listSessions(home: Home): Promise<SessionSummary[]> {
  const ids = await listSessionIds(home);
  const records = await Promise.all(
    ids.map((id) =>
      sessionFolder(home, id)
        .read()
        .catch(() => undefined),
    ),
  );
  const summaries = await Promise.all(records.filter((record) => record !== undefined).map(summarise));
  return summaries.sort((a, b) => a.createdAt.localeCompare(b.createdAt));
}

async function summarise(record: SessionRecord): Promise<SessionSummary> {
  const standing = await standingOf(record);
  const { desktop, profile, image } = record.spec;
  return {
    id: record.id,
    standing,
    desktop,
    profile,
    image: image.path,
    createdAt: record.createdAt,
    processes: standing === "running" || standing === "pooled" ? await countProcesses(record) : 0,
    initPid: record.init?.pid,
    network: await networkStanding(record),
    ports: record.network?.ports ?? [],
    hostname: record.spec.hostname,
    generation: record.lineage?.generation ?? 0,
    checkpoint: record.checkpoint,
    limits: record.spec.limits,
    usage: standing === "running" ? await sessionUsage(record) : undefined,
  };
}

async function countProcesses({ init }: SessionRecord): Promise<number> {
  return init === undefined ? 0 : (await listPidNamespace(init.pid)).length;
}
