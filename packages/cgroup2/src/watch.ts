import { join } from "node:path";
import { readIfThere } from "./errno.js";
import { tryWatch } from "./events.js";
import type { Group } from "./group.js";
import type { GroupStats } from "./stats.js";

/** Options of {@link watchStats}. */
export interface WatchOptions {
  /** Milliseconds between two statistics while no event comes; default 1000. */
  readonly intervalMs?: number;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
}

/** The files whose change the kernel notifies (cgroup-v2.rst: "a file modified event"), and the folder for its removal. */
const NOTIFYING = [".", "cgroup.events", "memory.events", "pids.events"];

/**
 * Statistics and pressure of a group as a stream: the first at once, then one at each interval and, without delay, one
 * when the kernel tells of an event (a process killed for memory, a fork refused, the group empty or frozen). It ends
 * when the group is gone or the signal comes.
 *
 * @throws CgroupError `REFUSED` where a control file cannot be read
 */
export async function* watchStats(
  group: Group,
  options: WatchOptions = {},
): AsyncGenerator<GroupStats, void> {
  const { intervalMs = 1000, signal } = options;
  const { files } = group.hierarchy;
  let ring = () => {};
  const watchers = NOTIFYING.flatMap((name) => tryWatch(join(group.path, name), () => ring()) ?? []);
  try {
    while (!signal?.aborted && readIfThere(files, join(group.path, "cgroup.events")) !== undefined) {
      // Armed before the look, else an event in between would wait for the interval.
      const event = new Promise<void>((resolve) => {
        ring = resolve;
      });
      yield group.stats();
      await firstOf(event, intervalMs, signal);
    }
  } finally {
    for (const watcher of watchers) watcher.close();
  }
}

function firstOf(event: Promise<void>, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, timeoutMs);
    signal?.addEventListener("abort", done);
    if (signal?.aborted) done();
    void event.then(done);

    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
  });
}
