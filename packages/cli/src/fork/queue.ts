import { availableParallelism } from "node:os";

/** How a queue of work is run. */
export interface QueueOptions {
  /** How many at a time; default: as many as there are cores, for the work is the processor's. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `work` for 1 … count, at most `concurrency` at a time, and returns the outcomes in that order.
 * One that fails does not stop the others: each sibling is whole or gone, by itself.
 */
export async function runQueue<T>(
  count: number,
  work: (number: number) => Promise<T>,
  { concurrency = availableParallelism(), signal }: QueueOptions = {},
): Promise<PromiseSettledResult<T>[]> {
  const outcomes = new Array<PromiseSettledResult<T>>(count);
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const index = next++;
      outcomes[index] = await settled(() => {
        signal?.throwIfAborted();
        return work(index + 1);
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
