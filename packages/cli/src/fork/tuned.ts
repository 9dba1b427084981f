import type { Home } from "../home.js";
import { type SessionMemory, sessionMemory } from "../session/memory.js";
import { sessionFolder } from "../session/store.js";
import { assertMergeable, untilMerged, withHostTuning } from "../tuning/index.js";
import { type Forked, type ForkOptions, type ForkRequest, forkCheckpoint } from "./fork.js";

/** What the memory of siblings came to while the kernel merged it; one entry a sibling, in their order. */
export interface Settled {
  /** Undefined where the kernel was not done in time. */
  readonly settledMs: number | undefined;
  readonly before: readonly SessionMemory[];
  readonly after: readonly SessionMemory[];
}

/** What a tuned fork came to. */
export interface TunedFork extends Forked {
  /** Where memory was to be merged. */
  readonly settled?: Settled;
}

/** How a tuned fork is run. */
export interface TunedForkOptions extends ForkOptions {
  /** Turn knobs of the whole machine for as long as this takes: page size, and ksmd's where memory is merged. */
  readonly hostTuning: boolean;
}

/**
 * {@link forkCheckpoint} with the machine tuned for it where asked. Where memory is merged it returns once that has
 * settled, a minute at most; siblings are told of as soon as they are usable all the same.
 * @throws DrumsError MERGE_UNAVAILABLE, MERGE_OFF, TUNING_FAILED before anything is done
 */
export async function forkTuned(
  home: Home,
  request: ForkRequest,
  { hostTuning, ...options }: TunedForkOptions,
): Promise<TunedFork> {
  const { merge = false } = request;
  if (merge) await assertMergeable({ starts: hostTuning });
  const tuned = <T>(kind: "page-size" | "ksm", isWanted: boolean, body: () => Promise<T>) =>
    isWanted ? withHostTuning(home, [kind], body) : body();
  return tuned("ksm", hostTuning && merge, async () => {
    const forked = await tuned("page-size", hostTuning, () => forkCheckpoint(home, request, options));
    return merge ? { ...forked, settled: await settle(home, forked, options) } : forked;
  });
}

async function settle(home: Home, { siblings }: Forked, { signal }: ForkOptions): Promise<Settled> {
  const memory = async () => {
    const all: SessionMemory[] = [];
    for (const { id } of siblings) {
      const { init } = await sessionFolder(home, id).read();
      if (init !== undefined) all.push(await sessionMemory(init));
    }
    return all;
  };
  const before = await memory();
  const settledMs = await untilMerged({ signal });
  return { settledMs, before, after: await memory() };
}
