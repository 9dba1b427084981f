import { assertFits, type Capacity, capacityOf, type SiblingNeeds, siblingNeeds } from "../capacity/index.js";
import { type LoadedCheckpoint, loadCheckpoint } from "../checkpoint/load.js";
import type { Home } from "../home.js";
import { type Machine, thisMachine } from "../preflight/index.js";
import type { FrameParser } from "../session/frame-parser.js";
import { removeSession } from "../session/remove.js";
import type { ForkOptions, ForkRequest } from "./fork.js";
import { hasMemory, holdBack, memoryReason } from "./hold-back.js";
import { runQueue } from "./queue.js";
import { type RestoreSiblingOptions, restoreSibling } from "./sibling.js";
import { assertUsable, type UsableSibling, usableSibling } from "./usable.js";

/** Makes so many siblings, each proven usable; the outcomes are in the order in which they were begun. */
export type Restores = (count: number) => Promise<PromiseSettledResult<UsableSibling>[]>;

/**
 * Loads a checkpoint and makes sure that so many siblings fit. Nothing is made yet.
 * @throws DrumsError NO_ROOM and what `loadCheckpoint` throws
 */
export async function prepareRestores(
  home: Home,
  { checkpoint: name, count, allowUnlimited, newerCriu = false, ...identity }: ForkRequest,
  options: ForkOptions & { readonly frames: FrameParser },
): Promise<Restores> {
  const { criu, frames, onUsable, wait = false, machine = thisMachine, signal } = options;
  const checkpoint = await loadCheckpoint(home, name, {
    criu,
    newerCriu,
    ...(allowUnlimited && { allowUnlimited }),
  });
  const needs = await siblingNeeds(checkpoint);
  const capacity = () => capacityOf(needs, { home: home.path, machine });
  if (!wait) assertFits(capacity(), { checkpoint: name, count });
  const mayBegin = holdBack({ ...room(machine, needs, wait ? capacity : undefined), wait, signal });
  const makeOne = async () => {
    const sibling = await restoreUsable(home, checkpoint, { criu, frames, signal, ...identity });
    onUsable?.(sibling);
    return sibling;
  };
  return (wanted) => runQueue(wanted, makeOne, { mayBegin, signal });
}

/** Memory is looked at before each; the kernel's limits too where more than fit were asked for. */
function room(machine: Machine, { memoryBytes }: SiblingNeeds, capacity?: () => Capacity) {
  const meminfo = () => machine.read("/proc/meminfo");
  return {
    hasRoom: (running: number) =>
      hasMemory(meminfo(), memoryBytes, running) && (capacity === undefined || capacity().fits > running),
    reason: () => memoryReason(meminfo(), memoryBytes),
  };
}

async function restoreUsable(
  home: Home,
  checkpoint: LoadedCheckpoint,
  options: RestoreSiblingOptions,
): Promise<UsableSibling> {
  const began = performance.now();
  const { live, folder, fresh, retries } = await restoreSibling(home, checkpoint, options);
  try {
    const restoreMs = performance.now() - began;
    await assertUsable(live, { signal: options.signal });
    const usableMs = performance.now() - began;
    return usableSibling(live, { restoreMs, usableMs, pooled: false, retries, ...(fresh && { fresh }) });
  } catch (error) {
    live.close();
    await removeSession(home, folder);
    throw error;
  } finally {
    live.close();
  }
}
