import { release } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { DrumsError, EXIT } from "../errors.js";
import { hasKnob, readKnob, type SysOptions } from "./knobs.js";

/** What tells whether memory can be merged. */
export interface MergeOptions extends SysOptions {
  /** Default: the kernel that runs. */
  readonly kernel?: string;
}

/** The first Linux under which PR_SET_MEMORY_MERGE reaches across exec (mm/ksm: support fork/exec for prctl). */
const OLDEST = [6, 7] as const;

/**
 * Refuses to merge memory where nothing would be merged.
 * @param options.starts  ksmd is about to be started
 * @throws DrumsError MERGE_UNAVAILABLE, MERGE_OFF
 */
export async function assertMergeable(options: MergeOptions & { readonly starts: boolean }): Promise<void> {
  const { kernel = release(), starts } = options;
  const [major = 0, minor = 0] = kernel.split(".").map(Number);
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  if (isOld || !(await hasKnob("mm/ksm/run", options))) throw unavailable(kernel);
  if (!starts && (await readKnob("mm/ksm/run", options)) !== "1") throw off();
}

/** How {@link untilMerged} waits. */
export interface SettleOptions extends SysOptions {
  /** Default 60 000. */
  readonly timeoutMs?: number;
  /** Default 500. */
  readonly pollMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Another sibling's pages are found in two rounds: in the first they are only seen not to change. */
const ROUNDS = 3;
/** Of the pages that are merged, the share that a look later may have more and count as none. */
const STILL = 0.01;

/**
 * Waits until ksmd has gone over all memory some rounds and merges hardly more. Gives the milliseconds that it took;
 * undefined where the time was over first.
 */
export async function untilMerged(options: SettleOptions = {}): Promise<number | undefined> {
  const { timeoutMs = 60_000, pollMs = 500, signal } = options;
  const began = performance.now();
  const first = await look(options);
  let before = first;
  while (performance.now() - began < timeoutMs) {
    await sleep(pollMs, undefined, signal ? { signal } : {});
    const now = await look(options);
    const isStill = now.sharing - before.sharing <= before.sharing * STILL;
    if (now.scans - first.scans >= ROUNDS && isStill) return performance.now() - began;
    before = now;
  }
  return undefined;
}

async function look(options: SysOptions): Promise<{ readonly scans: number; readonly sharing: number }> {
  const [scans, sharing] = await Promise.all(
    ["full_scans", "pages_sharing"].map(async (name) => Number(await readKnob(`mm/ksm/${name}`, options))),
  );
  return { scans: scans ?? 0, sharing: sharing ?? 0 };
}

function unavailable(kernel: string): DrumsError {
  return new DrumsError({
    code: "MERGE_UNAVAILABLE",
    exitCode: EXIT.blocker,
    what: "this kernel cannot merge the memory of siblings",
    why: `it is ${kernel}; it takes CONFIG_KSM and Linux ${OLDEST.join(".")} or later`,
    hint: "fork without --merge",
  });
}

function off(): DrumsError {
  return new DrumsError({
    code: "MERGE_OFF",
    exitCode: EXIT.blocker,
    what: "the kernel merges no memory now",
    where: "/sys/kernel/mm/ksm/run",
    why: "ksmd does not run",
    hint: "add --host-tuning, which starts it and stops it again, or `echo 1 > /sys/kernel/mm/ksm/run`",
  });
}
