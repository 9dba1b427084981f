import { setTimeout as sleep } from "node:timers/promises";
import type { BusFacts } from "./bus/types.js";
import { ReadinessError } from "./errors.js";
import type { Frame } from "./pixels/frame.js";
import { defaultRules } from "./rules/default.js";
import type { Rules, VerdictName } from "./rules/types.js";
import { judge, lostVerdict, type Verdict } from "./verdict.js";
import type { DesktopFacts } from "./x11/types.js";

export interface WaitOptions {
  /** Takes a picture of the screen now. */
  frame(): Promise<Frame>;
  /** Asks the X server now. Absent: judged by pixels alone. */
  facts?(): Promise<DesktopFacts>;
  /** Asks the session bus now, as {@link watchShell}'s `facts` does. Absent: judged without it. */
  bus?(): Promise<BusFacts>;
  /** Default: {@link defaultRules}. */
  readonly rules?: Rules;
  /** Default 30 000 ms. A last look may take up to a second more. */
  readonly timeoutMs?: number;
  /** Between two looks. Default 50 ms. */
  readonly pollMs?: number;
  /** How long the screen must have been ready and unchanged. Default 100 ms. */
  readonly settleMs?: number;
  /** How long one `frame()`, `facts()` or `bus()` may take. Default 5000 ms. */
  readonly callTimeoutMs?: number;
  /** Wakes the wait before `pollMs` is over, as {@link watchDamage}'s `changed` or {@link wakeOnAny} does. */
  wake?(timeoutMs: number, options: { readonly signal: AbortSignal }): Promise<unknown>;
  /** Called whenever the verdict's name changes. */
  onVerdict?(verdict: Verdict, elapsedMs: number): void;
  readonly signal?: AbortSignal;
}

export interface WaitResult {
  /** The last verdict: `ready`, or why not. */
  readonly verdict: Verdict;
  /** The last frames, at most two: what the verdict was given on. */
  readonly frames: readonly Frame[];
  /** The last facts. */
  readonly facts?: DesktopFacts;
  /** The last that the session bus said. */
  readonly bus?: BusFacts;
  readonly polls: number;
  readonly elapsedMs: number;
  /** Each verdict's name and when it was first given in a row. */
  readonly history: readonly { readonly name: VerdictName; readonly atMs: number }[];
}

const MAX_HISTORY = 256;
/** Even a screen that is drawn on without pause is looked at no more often than this. */
const MIN_PAUSE_MS = 10;
/** A look that began in time may end this much after it. */
const LAST_LOOK_MS = 1_000;
/** What a socket or a frame file that is not there, or no longer, is called by Node. */
const NOT_THERE: ReadonlySet<unknown> = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "ENXIO"]);

/**
 * Looks until the desktop is ready and has been so, unchanged, for `settleMs`; or until the time is up, or
 * a server that once answered is gone. Never throws for a desktop that is not ready: the last verdict says
 * why. A socket or file that is not there yet (ENOENT, ECONNREFUSED …) is a verdict too, `no-screen`.
 * Throws ABORTED by `signal`, and whatever else `frame` or `facts` throws.
 */
export async function waitUntilReady(options: WaitOptions): Promise<WaitResult> {
  return new Wait(options).run();
}

interface Look {
  /** When its frame was asked for: judging takes time in which nobody looks. */
  readonly takenAt: number;
  readonly verdict: Verdict;
  readonly frame?: Frame;
  readonly facts?: DesktopFacts;
  readonly bus?: BusFacts;
}

class Wait {
  readonly #options: WaitOptions;
  readonly #rules: Rules;
  readonly #start = performance.now();
  readonly #history: { name: VerdictName; atMs: number }[] = [];
  #polls = 0;
  /** The first frame of the present run of frames that agree, and when it was taken. */
  #anchor: { frame: Frame; at: number } | undefined;
  #hasAnswered = false;
  #last: Look | undefined;

  constructor(options: WaitOptions) {
    this.#options = options;
    this.#rules = options.rules ?? defaultRules();
  }

  async run(): Promise<WaitResult> {
    const { timeoutMs = 30_000, pollMs = 50, settleMs = 100, signal } = this.#options;
    for (;;) {
      if (signal?.aborted) throw aborted(signal);
      const anchor = this.#anchor;
      const look = await this.#lookInTime(timeoutMs);
      this.#note(look.verdict);
      const isSettled = look.takenAt >= this.#settledAt(settleMs);
      const isOver =
        this.#elapsed() >= timeoutMs || (this.#hasAnswered && look.verdict.name === "x-server-gone");
      if ((look.verdict.ready && isSettled) || isOver) return this.#result(look, anchor?.frame, isSettled);
      // A ready screen is looked at again when it will have stood still for long enough, not a poll later.
      const settlesIn = look.verdict.ready ? this.#settledAt(settleMs) - performance.now() : pollMs;
      const left = Math.max(timeoutMs - this.#elapsed(), 0);
      // A timer counts whole milliseconds and may come up to one early: a look too soon would be wasted.
      await this.#pause(Math.min(pollMs, left, Math.max(Math.ceil(settlesIn) + 1, 1)));
    }
  }

  /** When the screen will have stood still for long enough, if nothing changes. */
  #settledAt(settleMs: number): number {
    return (this.#anchor?.at ?? Number.POSITIVE_INFINITY) + settleMs;
  }

  /** The last look must not hide what was seen before only because little time was left for it. */
  async #lookInTime(timeoutMs: number): Promise<Look> {
    const { callTimeoutMs = 5_000 } = this.#options;
    // Whole milliseconds, as timers count: else the time would not quite be over after the last look.
    const limit = Math.min(callTimeoutMs, Math.max(Math.ceil(timeoutMs - this.#elapsed()), LAST_LOOK_MS));
    const look = await this.#look(limit);
    const isCutShort = look.verdict.name === "x-server-mute" && limit < callTimeoutMs;
    if (!isCutShort || this.#last === undefined) this.#last = look;
    return this.#last;
  }

  async #look(limit: number): Promise<Look> {
    const { facts: askFacts, bus: askBus } = this.#options;
    const takenAt = performance.now();
    this.#polls++;
    try {
      const [frame, facts, bus] = await Promise.all([
        this.#bounded(this.#options.frame(), limit, "a frame"),
        askFacts && this.#bounded(askFacts.call(this.#options), limit, "the facts"),
        askBus && this.#bounded(askBus.call(this.#options), limit, "the bus's answers"),
      ]);
      this.#hasAnswered = true;
      const frames = this.#anchor ? [this.#anchor.frame, frame] : [frame];
      const told = { ...(facts && { facts }), ...(bus && { bus }) };
      const verdict = judge({ frames, rules: this.#rules, ...told });
      // A ready desktop is held against the first frame of its run, so that slow changes add up.
      if (!this.#anchor || verdict.name === "still-changing") this.#anchor = { frame, at: takenAt };
      if (!verdict.ready && verdict.name !== "still-changing") this.#anchor = undefined;
      return { takenAt, verdict, frame, ...told };
    } catch (error) {
      this.#anchor = undefined;
      return { takenAt, verdict: this.#lost(error) };
    }
  }

  #lost(error: unknown): Verdict {
    const { code, message } = error as { code?: unknown; message?: string };
    const isOurs = error instanceof ReadinessError;
    const about = {
      reason: message ?? String(error),
      remedy: isOurs ? error.hint : "wait; when it stays so, look at the X server's log",
      rules: this.#rules.name,
    };
    if (code === "X_TIMEOUT") return lostVerdict("x-server-mute", about);
    if (code === "X_SERVER_GONE" || (NOT_THERE.has(code) && this.#hasAnswered))
      return lostVerdict("x-server-gone", about);
    if (NOT_THERE.has(code) || code === "BAD_XWD" || code === "BAD_FRAME")
      return lostVerdict("no-screen", about);
    throw error;
  }

  async #bounded<T>(work: Promise<T>, limitMs: number, what: string): Promise<T> {
    const stop = new AbortController();
    const late = sleep(limitMs, undefined, { signal: stop.signal }).then(() => {
      throw new ReadinessError("X_TIMEOUT", `${what} did not come within ${Math.round(limitMs)} ms`, {
        hint: "look whether the X server is stopped or starved; raise callTimeoutMs on a loaded machine",
      });
    });
    late.catch(() => {});
    work.catch(() => {}); // it may still fail after the limit
    try {
      return await Promise.race([work, late]);
    } finally {
      stop.abort();
    }
  }

  async #pause(ms: number): Promise<void> {
    const { signal, wake } = this.#options;
    const stop = new AbortController();
    const slept = sleep(ms, undefined, {
      signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
    });
    slept.catch(() => {});
    const woken = wake
      ? sleep(MIN_PAUSE_MS).then(() => wake.call(this.#options, ms, { signal: stop.signal }))
      : slept;
    woken.catch(() => {});
    await Promise.race([slept, woken]).catch(() => {}); // an abort is met at the loop's head
    stop.abort();
  }

  #note(verdict: Verdict): void {
    if (this.#history.at(-1)?.name === verdict.name) return;
    const atMs = this.#elapsed();
    if (this.#history.length < MAX_HISTORY) this.#history.push({ name: verdict.name, atMs });
    this.#options.onVerdict?.(verdict, atMs);
  }

  #result({ verdict, frame, facts, bus }: Look, before: Frame | undefined, isSettled: boolean): WaitResult {
    return {
      verdict: verdict.ready && !isSettled ? unsettled(verdict) : verdict,
      frames: [before, frame].filter((entry) => entry !== undefined),
      ...(facts && { facts }),
      ...(bus && { bus }),
      polls: this.#polls,
      elapsedMs: this.#elapsed(),
      history: this.#history,
    };
  }

  #elapsed(): number {
    return performance.now() - this.#start;
  }
}

function unsettled(verdict: Verdict): Verdict {
  return {
    ...verdict,
    name: "still-changing",
    ready: false,
    reasons: ["the screen was ready only at the very end of the time", ...verdict.reasons],
    remedy: "give it more time",
  };
}

function aborted(signal: AbortSignal): ReadinessError {
  return new ReadinessError("ABORTED", "the wait for a ready desktop was aborted", {
    hint: "nothing was left running",
    cause: signal.reason,
  });
}
