import { listRoots } from "@drums/rootfs";
import type { Home } from "./home.js";
import { identify, isAlive } from "./session/identity.js";

/** Ids of sessions end otherwise, so no session is taken for a process. */
const PROCESS_HOLDER = /^process-(\d+)-(\d+)$/;

/** The name by which this process holds a root of its own while it looks into it: no longer than it lives. */
export async function processHolder(): Promise<string> {
  const { pid, startTime } = await identify(process.pid);
  return `process-${pid}-${startTime}`;
}

/** Holders of a home's roots that are processes and live. Sessions are told by their records instead. */
export async function livingProcessHolders(home: Home): Promise<string[]> {
  const roots = await listRoots({ stateDir: home.path });
  const living: string[] = [];
  for (const holder of new Set(roots.flatMap(({ holders }) => holders))) {
    const [, pid, startTime] = PROCESS_HOLDER.exec(holder) ?? [];
    if (pid !== undefined && startTime !== undefined && (await isAlive({ pid: Number(pid), startTime })))
      living.push(holder);
  }
  return living;
}
