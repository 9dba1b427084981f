import { availableParallelism } from "node:os";

/** How a queue of work is run. */
export interface QueueOptions {
  /** How many at a time; default: as many as there are cores, for the work is the processor's. */
  readonly concurrency?: number;
  /** Asked before each is begun, with the number of those that run: resolves when it may be. Default: at once. */
  readonly mayBegin?: (running: number) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `work` for 1 … count, at most `concurrency` at a time, and returns the outcomes in that order.
 * One that fails does not stop the others: each sibling is whole or gone, by itself.
 */
export async function runQueue<T>(
  count: number,
  work: (number: number) => Promise<T>,
  { concurrency = availableParallelism(), mayBegin = async () => {}, signal }: QueueOptions = {},
): Promise<PromiseSettledResult<T>[]> {
  const outcomes = new Array<PromiseSettledResult<T>>(count);
  let next = 0;
  let running = 0;
  const worker = async () => {
    while (next < count) {
      const index = next++;
      outcomes[index] = await settled(async () => {
        signal?.throwIfAborted();
        await mayBegin(running);
        running++;
        return await work(index + 1).finally(() => running--);
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, worker));
  return outcomes;
}

async function settled<T>(work: () => Promise<T>): Promise<PromiseSettledResult<T>> {
  try {
    return { status: "fulfilled", value: await work() };
  } catch (reason) {
    return { status: "rejected", reason };
  }
}
