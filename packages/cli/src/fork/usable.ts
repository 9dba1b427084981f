import type { FreshMachine, PublishedPort } from "@drums/nsexec";
import { DrumsError, EXIT } from "../errors.js";
import { findDesktop } from "../recipes/index.js";
import { awaitReady } from "../session/boot/ready.js";
import type { LiveSession } from "../session/open.js";

/** A sibling that was found usable. Times in milliseconds from the moment at which its restore, or its waking, began. */
export interface UsableSibling {
  readonly id: string;
  readonly initPid: number;
  /** 0 where it was in a pool. */
  readonly restoreMs: number;
  readonly usableMs: number;
  /** Whether it was taken from a pool. */
  readonly pooled: boolean;
  readonly hostname: string;
  /** Why restores of it failed before one held; for moments that pass by themselves. */
  readonly retries?: readonly string[];
  /** Ports of the host's 127.0.0.1 that lead into it. */
  readonly ports: readonly PublishedPort[];
  /** The machine's ids that were made anew, where asked for. */
  readonly fresh?: FreshMachine;
}

/** A sibling's screen stood still when it was frozen: a second look tells whether it goes on so. */
const SETTLE_MS = 20;

/**
 * Judges a sibling by its own screen and window facts. It is not closed, and left as it is where it is not usable.
 * @param options.settleMs  how long its screen must stand still; default 20
 * @throws DrumsError NOT_READY
 */
export async function assertUsable(
  live: LiveSession,
  {
    settleMs = SETTLE_MS,
    signal,
  }: { readonly settleMs?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const { spec } = live.record;
  const desktop = findDesktop(spec.desktop, spec);
  const { verdict } = await awaitReady(live, desktop, { settleMs, timeoutMs: 10_000, signal });
  if (verdict.ready) return;
  throw new DrumsError({
    code: "NOT_READY",
    exitCode: EXIT.verdictFailed,
    what: `sibling ${live.record.id} is not usable: ${verdict.name}`,
    why: verdict.reasons.join("; "),
    hint: "make the checkpoint of a session that is ready: `drums judge` says why a screen is not",
  });
}

/** What is reported of a sibling that was found usable. */
export function usableSibling(
  { record }: LiveSession,
  facts: Pick<UsableSibling, "restoreMs" | "usableMs" | "pooled" | "fresh" | "retries">,
): UsableSibling {
  const { id, init, spec, network } = record;
  const { fresh, retries = [], ...times } = facts;
  return {
    id,
    initPid: init?.pid ?? 0,
    ...times,
    hostname: spec.hostname,
    ports: network?.ports ?? [],
    ...(fresh && { fresh }),
    ...(retries.length > 0 && { retries }),
  };
}
