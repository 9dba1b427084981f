import { setTimeout as sleep } from "node:timers/promises";
import { memoryFloor, parseMeminfo } from "../capacity/index.js";
import { DrumsError, EXIT } from "../errors.js";
import { bytesText } from "../render/style.js";

/** What decides whether another sibling may be begun. */
export interface HoldBackOptions {
  /** Whether one more has room beside those that are being made. */
  hasRoom(running: number): boolean;
  /** Why there is none, for the error. */
  reason(): string;
  /** Wait until there is room, however long, instead of giving up once nothing of ours runs that could end. */
  readonly wait: boolean;
  /** Between two looks; default 100. */
  readonly pollMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** How long room may be missing while nothing of ours is on the way: the kernel frees memory with a delay. */
const PATIENCE_MS = 2_000;

/**
 * Makes the queue's question: it is answered when there is room for one more.
 * @throws DrumsError NO_ROOM where there is none and no sibling is on the way; the signal's reason when aborted
 */
export function holdBack(options: HoldBackOptions): (running: number) => Promise<void> {
  const { hasRoom, reason, wait, pollMs = 100, signal } = options;
  return async (running) => {
    const began = performance.now();
    while (!hasRoom(running)) {
      if (!wait && running === 0 && performance.now() - began > PATIENCE_MS) throw noRoom(reason());
      await sleep(pollMs, undefined, signal ? { signal } : {});
    }
  };
}

/**
 * Whether memory for one more sibling is available above the floor, beside those that are being made: they have not
 * taken theirs yet. Where the machine does not say, there is.
 */
export function hasMemory(meminfo: string | undefined, each: number, running: number): boolean {
  const memory = parseMeminfo(meminfo);
  return memory === undefined || memory.available - memoryFloor(memory) >= each * (running + 1);
}

/** What {@link hasMemory} missed. */
export function memoryReason(meminfo: string | undefined, each: number): string {
  const available = parseMeminfo(meminfo)?.available ?? 0;
  return `a sibling takes ${bytesText(each)}, and ${bytesText(available)} are available`;
}

function noRoom(why: string): DrumsError {
  return new DrumsError({
    code: "NO_ROOM",
    exitCode: EXIT.blocker,
    what: "a sibling was not begun: there is no more room",
    why,
    hint: "`drums rm` sessions that are not needed, or fork with --wait",
  });
}
