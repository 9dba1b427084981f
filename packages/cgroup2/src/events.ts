import { watch } from "node:fs";
import { join } from "node:path";
import { CgroupError } from "./errors.js";
import type { CgroupFiles } from "./files.js";

/** A group's cgroup.events. */
export interface GroupEvents {
  /** Whether the group or a descendant holds a live process. */
  readonly populated: boolean;
  /** Whether every process in it is frozen. */
  readonly frozen: boolean;
}

/** Beside inotify, in case its queue overflowed; and alone where a watch cannot be had. */
const POLL_WITH_WATCH_MS = 100;
const POLL_ALONE_MS = 5;

/** Parses a flat-keyed file, `KEY VALUE` a line, into numbers. */
export function parseFlatKeyed(text: string): Record<string, number> {
  const result: Record<string, number> = {};
  for (const line of text.split("\n")) {
    const [key, value] = line.split(" ");
    if (key !== undefined && value !== undefined) result[key] = Number(value);
  }
  return result;
}

/** Parses cgroup.events. */
export function parseEvents(text: string): GroupEvents {
  const { populated, frozen } = parseFlatKeyed(text);
  return { populated: populated === 1, frozen: frozen === 1 };
}

/** What {@link waitForEvents} waits for. */
export interface EventsWait {
  readonly files: CgroupFiles;
  /** The group's folder. */
  readonly folder: string;
  readonly until: (events: GroupEvents) => boolean;
  readonly timeoutMs: number;
  /** What is awaited, for the error's text. */
  readonly what: string;
  readonly hint: string;
}

/**
 * Waits until cgroup.events says what is wanted. The kernel notifies a watch on the file at each change
 * (cgroup-v2.rst: "a file modified event is generated"), so nothing is polled while nothing happens but for
 * a slow look beside it. A group that is gone holds nothing: it counts as neither populated nor frozen.
 *
 * @throws CgroupError `TIMEOUT`
 */
export function waitForEvents(wait: EventsWait): Promise<void> {
  return new Promise((resolve, reject) => {
    // The watch comes before the first look, else a change in between would be lost.
    const watcher = tryWatch(join(wait.folder, "cgroup.events"), look);
    const poll = setInterval(look, watcher === undefined ? POLL_ALONE_MS : POLL_WITH_WATCH_MS);
    const timer = setTimeout(() => finish(() => reject(timedOut(wait))), wait.timeoutMs);
    look();

    function look(): void {
      try {
        if (wait.until(readEvents(wait.files, wait.folder))) finish(resolve);
      } catch (error) {
        finish(() => reject(error));
      }
    }
    function finish(then: () => void): void {
      watcher?.close();
      clearInterval(poll);
      clearTimeout(timer);
      then();
    }
  });
}

/** Reads cgroup.events of a group; of one that is gone, that nothing is in it. */
export function readEvents(files: CgroupFiles, folder: string): GroupEvents {
  try {
    return parseEvents(files.read(join(folder, "cgroup.events")));
  } catch (error) {
    // ENODEV comes from a file that was open when its group was removed.
    if (error instanceof CgroupError && (error.errno === "ENOENT" || error.errno === "ENODEV"))
      return { populated: false, frozen: false };
    throw error;
  }
}

/** A watch on a control file that the kernel notifies, where one can be had. */
export function tryWatch(file: string, onChange: () => void): { close(): void } | undefined {
  try {
    const watcher = watch(file, onChange);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    // No inotify instance left (EMFILE), or no such file: the poll does it.
    return undefined;
  }
}

function timedOut(wait: EventsWait): CgroupError {
  return new CgroupError("TIMEOUT", `${wait.folder}: ${wait.what} within ${wait.timeoutMs} ms`, {
    hint: wait.hint,
    path: wait.folder,
  });
}
