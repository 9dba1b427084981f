import { existsSync } from "node:fs";
import type { Criu } from "@drums/criu";
import { checkpointFolder } from "../checkpoint/store.js";
import type { Home } from "../home.js";
import { type Taken, takeWarm, warmSiblings } from "../pool/index.js";
import type { Machine } from "../preflight/index.js";
import type { IdentityOptions } from "../session/clone-identity.js";
import { FrameParser } from "../session/frame-parser.js";
import { prepareRestores } from "./restores.js";
import type { UsableSibling } from "./usable.js";

/** What is asked of a fork. */
export interface ForkRequest extends IdentityOptions {
  readonly checkpoint: string;
  readonly count: number;
  /** The kernel may merge equal memory of the siblings; a side channel between them. Default false. */
  readonly merge?: boolean;
  /** A CRIU newer than the one that wrote the images may read them. Default false. */
  readonly newerCriu?: boolean;
  /** Fork where the checkpoint's limits cannot be in force. Default: what the session was told. */
  readonly allowUnlimited?: boolean;
}

/** How a fork is run. */
export interface ForkOptions {
  readonly criu: Criu;
  /** Told of each sibling as soon as it is usable. */
  readonly onUsable?: (sibling: UsableSibling) => void;
  /** More than fit: make those that do, and the rest as room comes. Default: refuse all before anything is done. */
  readonly wait?: boolean;
  /** Default the machine this process runs on. */
  readonly machine?: Machine;
  readonly signal?: AbortSignal | undefined;
}

/** What a fork came to. */
export interface Forked {
  readonly siblings: UsableSibling[];
  readonly failures: unknown[];
}

/**
 * Makes siblings of a checkpoint: those that wait in its pool first, the rest by restores, as many at a time as there
 * are cores and memory is for. Each is judged by its own screen and window facts before it counts; one that fails is
 * taken down and reported, and the others stay.
 * @throws DrumsError NO_ROOM, NO_CHECKPOINT and what `loadCheckpoint` throws, before anything is done
 */
export async function forkCheckpoint(
  home: Home,
  { checkpoint, count, ...request }: ForkRequest,
  options: ForkOptions,
): Promise<Forked> {
  const { onUsable, signal } = options;
  const { allowUnlimited: _, merge: __, newerCriu: ___, ...identity } = request;
  const frames = new FrameParser();
  const prepare = (rest: number) =>
    prepareRestores(home, { checkpoint, count: rest, ...request }, { ...options, frames });
  const warm = await warmCount(home, checkpoint);
  // Before anything is done: what cannot be made is refused.
  const restores = count > warm ? await prepare(count - warm) : undefined;
  const none: Taken = { siblings: [], failures: [] };
  const taken =
    warm === 0
      ? none
      : await takeWarm(home, { checkpoint, count }, { ...identity, frames, onUsable, signal });
  // Another fork may have been quicker to the pool.
  const rest = count - taken.siblings.length - taken.failures.length;
  const restored = rest === 0 ? [] : await (restores ?? (await prepare(rest)))(rest);
  return {
    siblings: [
      ...taken.siblings,
      ...restored.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])),
    ],
    failures: [
      ...taken.failures,
      ...restored.flatMap((one) => (one.status === "rejected" ? [one.reason] : [])),
    ],
  };
}

async function warmCount(home: Home, checkpoint: string): Promise<number> {
  if (!existsSync(checkpointFolder(home, checkpoint).pool)) return 0;
  return (await warmSiblings(home, checkpoint)).length;
}
