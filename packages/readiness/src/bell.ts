/** Tells that something happened, so that a wait need not poll fast. */
export interface Watch {
  /**
   * Resolves with true as soon as anything happened since the last call that said so, with false after
   * `timeoutMs` or when `signal` aborts. What happens while nobody waits is kept for the next call.
   */
  changed(timeoutMs: number, options?: { readonly signal?: AbortSignal }): Promise<boolean>;
}

/** Rung from events, heard by a wait. */
export class Bell implements Watch {
  #isRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  async changed(timeoutMs: number, options: { readonly signal?: AbortSignal } = {}): Promise<boolean> {
    const { signal } = options;
    if (!this.#isRung && signal?.aborted !== true) await this.#rungOrOver(timeoutMs, signal);
    if (signal?.aborted === true) return false;
    const wasRung = this.#isRung;
    this.#isRung = false;
    return wasRung;
  }

  async #rungOrOver(timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let over = () => {};
    await new Promise<void>((resolve) => {
      over = () => resolve();
      timer = setTimeout(over, timeoutMs);
      signal?.addEventListener("abort", over, { once: true });
      this.#wake = over;
    });
    clearTimeout(timer);
    signal?.removeEventListener("abort", over);
    if (this.#wake === over) this.#wake = undefined;
  }
}

/** Wakes a wait by whichever of several watches tells first; as `waitUntilReady`'s `wake`. */
export function wakeOnAny(
  ...watches: readonly Watch[]
): (timeoutMs: number, options?: { readonly signal?: AbortSignal }) => Promise<boolean> {
  return async (timeoutMs, { signal } = {}) => {
    const others = new AbortController();
    const inner = signal ? AbortSignal.any([signal, others.signal]) : others.signal;
    try {
      return await Promise.race(watches.map((watch) => watch.changed(timeoutMs, { signal: inner })));
    } finally {
      others.abort();
    }
  };
}
