import { setTimeout as sleep } from "node:timers/promises";
import { DrumsError, EXIT, messageOf } from "../errors.js";

/** What is waited for, and how long. */
export interface WaitForOptions {
  /** In words, for the error. */
  readonly what: string;
  /** Default 20 000. */
  readonly timeoutMs?: number | undefined;
  /** Between two tries; default 15. */
  readonly pollMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits until `holds` says true. What it throws counts as "not yet", and is told when the time is up.
 * @throws DrumsError NOT_IN_TIME; the signal's reason when aborted
 */
export async function waitFor(holds: () => Promise<boolean>, options: WaitForOptions): Promise<void> {
  const { what, timeoutMs = 20_000, pollMs = 15, signal } = options;
  const deadline = performance.now() + timeoutMs;
  let last = "it never held";
  for (;;) {
    signal?.throwIfAborted();
    try {
      if (await holds()) return;
    } catch (error) {
      last = messageOf(error);
    }
    if (performance.now() > deadline)
      throw new DrumsError({
        code: "NOT_IN_TIME",
        exitCode: EXIT.verdictFailed,
        what: `waited ${Math.round(timeoutMs / 1000)} s in vain for ${what}`,
        why: last,
        hint: "look at the logs of the session's programs; on a loaded machine give it more time",
      });
    await sleep(pollMs);
  }
}
