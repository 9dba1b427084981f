import { assertUsable, type UsableSibling, usableSibling } from "../fork/usable.js";
import type { Home } from "../home.js";
import { withLock } from "../lock.js";
import { type IdentityOptions, reintroduce } from "../session/clone-identity.js";
import type { FrameParser } from "../session/frame-parser.js";
import { identify } from "../session/identity.js";
import { openSession } from "../session/open.js";
import { removeSession } from "../session/remove.js";
import { wakeProcesses } from "../session/stop.js";
import { type PooledSibling, warmSiblings } from "./store.js";

/** How siblings are taken from a pool. */
export interface TakeOptions extends IdentityOptions {
  readonly frames: FrameParser;
  /** Told of each as soon as it is usable. */
  readonly onUsable?: ((sibling: UsableSibling) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What came of it. */
export interface Taken {
  readonly siblings: readonly UsableSibling[];
  readonly failures: readonly unknown[];
}

/**
 * Takes up to `count` warm siblings of a checkpoint: each is woken, looked at once, and then an ordinary one. One that
 * is not usable is taken down.
 */
export async function takeWarm(
  home: Home,
  { checkpoint, count }: { readonly checkpoint: string; readonly count: number },
  options: TakeOptions,
): Promise<Taken> {
  const siblings: UsableSibling[] = [];
  const failures: unknown[] = [];
  for (const one of await claim(home, checkpoint, count)) {
    try {
      const usable = await wake(home, one, options);
      siblings.push(usable);
      options.onUsable?.(usable);
    } catch (error) {
      failures.push(error);
    }
  }
  return { siblings, failures };
}

/** Two forks never take the same one: who takes says so in its record, under a lock. */
async function claim(home: Home, checkpoint: string, count: number): Promise<PooledSibling[]> {
  return withLock(home, "pools-take", async () => {
    const holder = await identify(process.pid);
    const claimed: PooledSibling[] = [];
    for (const { folder, record } of (await warmSiblings(home, checkpoint)).slice(0, count)) {
      const stopped = record.pool?.stopped ?? [];
      const taking = { ...record, pool: { state: "taking" as const, holder, stopped } };
      await folder.write(taking);
      claimed.push({ folder, record: taking });
    }
    return claimed;
  });
}

async function wake(
  home: Home,
  { folder, record: { pool, ...record } }: PooledSibling,
  { frames, onUsable: _, signal, ...identity }: TakeOptions,
): Promise<UsableSibling> {
  const began = performance.now();
  try {
    await wakeProcesses(pool?.stopped ?? []);
    const live = await openSession(record, { frames });
    try {
      const wantsMore = identity.identity === "fresh" || identity.onFork !== undefined;
      const fresh = wantsMore ? await reintroduce(live, identity) : undefined;
      // It was proven before it was stopped, and nothing ran since: one look tells whether it answers.
      await assertUsable(live, { settleMs: 0, signal });
      await folder.write(record);
      const usableMs = performance.now() - began;
      return usableSibling(live, { restoreMs: 0, usableMs, pooled: true, ...(fresh && { fresh }) });
    } finally {
      live.close();
    }
  } catch (error) {
    await removeSession(home, folder);
    throw error;
  }
}
