import { Bell, type Watch } from "../bell.js";
import { ReadinessError } from "../errors.js";
import { MATCH_CALLS, overviewCall, QUESTIONS, type Question } from "./questions.js";
import { type BusClient, type BusFacts, isShellRunning, type MuteName } from "./types.js";

/** What {@link watchShell} is given. */
export interface WatchShellOptions {
  /** Connects to the session bus, as the desktop's user. It is tried again while there is none. */
  connect(): Promise<BusClient>;
  /**
   * The names that are owned but mute, of the system and the session bus, as `findMuteNames` of
   * `@drums/dbus-private` finds them. Asked for while the Shell is not running. Default: none are looked for.
   */
  muteNames?(): Promise<readonly string[]>;
  /**
   * How long one look waits for answers, in milliseconds. Default 250, and four times that once the Shell runs: then
   * a late answer tells of a busy machine.
   */
  readonly answerMs?: number;
}

/** Looks at GNOME over its session bus. Holds one connection, which must be closed before a dump. */
export interface ShellWatch extends Watch {
  /** What the Shell says now. Never throws for a bus that is not there or does not answer. */
  facts(): Promise<BusFacts>;
  /**
   * Shows or leaves the Overview; resolves when the Shell has taken the order, not when it has drawn it.
   * Throws BUS_GONE without a session bus, and what the client throws.
   */
  setOverview(active: boolean): Promise<void>;
  close(): void;
}

/** A Shell that starts up answers late; the question stays asked so long, and no second one is sent. */
const QUESTION_MS = 60_000;
/** Between two searches for mute names, in milliseconds. */
const PROBE_EVERY_MS = 500;
const MAX_MUTE = 32;
/** A Shell that ran a moment ago is waited for so many times longer. */
const RUNNING_PATIENCE = 4;
const MAX_NAME_CHARACTERS = 255;

/** Watches GNOME Shell's own state over D-Bus. The session is hostile ground: answers are checked for their type. */
export function watchShell(options: WatchShellOptions): ShellWatch {
  return new BusWatcher(options);
}

type Values = readonly unknown[];

class BusWatcher implements ShellWatch {
  readonly #options: WatchShellOptions;
  readonly #bell = new Bell();
  readonly #pending = new Map<Question, Promise<Values | undefined>>();
  /** Questions whose answer did not come within a look: it is worth a look of its own. */
  readonly #late = new Set<Question>();
  readonly #muteSince = new Map<string, number>();
  #client: BusClient | undefined;
  #connecting: Promise<BusClient | undefined> | undefined;
  #runningSince: number | undefined;
  #probing: Promise<void> | undefined;
  #probedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: WatchShellOptions) {
    this.#options = options;
  }

  async facts(): Promise<BusFacts> {
    const client = await this.#within(this.#connected());
    const answers = client === undefined ? [] : await Promise.all(QUESTIONS.map((q) => this.#ask(client, q)));
    const told = Object.fromEntries(answers.flat()) as Partial<BusFacts>;
    const facts: BusFacts = {
      shellOwned: false,
      ...told,
      connected: told.shellOwned !== undefined,
      mute: [],
    };
    const now = performance.now();
    if (!isShellRunning(facts)) {
      this.#runningSince = undefined;
      this.#probe(now);
      return { ...facts, mute: this.#mute(now) };
    }
    this.#runningSince ??= now;
    this.#muteSince.clear();
    return { ...facts, runningForMs: Math.round(now - this.#runningSince) };
  }

  async setOverview(active: boolean): Promise<void> {
    const client = await this.#connected();
    if (client === undefined)
      throw new ReadinessError("BUS_GONE", "the session bus answers no client", {
        hint: "wait until the desktop is ready; when it was, read the session bus's log",
      });
    await client.call(overviewCall(active));
  }

  changed(timeoutMs: number, options: { readonly signal?: AbortSignal } = {}): Promise<boolean> {
    return this.#bell.changed(timeoutMs, options);
  }

  close(): void {
    this.#isClosed = true;
    this.#client?.close();
    this.#client = undefined;
  }

  /** The connection, made again where it was lost; undefined while there is none. */
  #connected(): Promise<BusClient | undefined> {
    if (this.#client !== undefined) return Promise.resolve(this.#client);
    this.#connecting ??= this.#options
      .connect()
      .then((client) => this.#take(client))
      .catch(() => undefined)
      .finally(() => {
        this.#connecting = undefined;
      });
    return this.#connecting;
  }

  #take(client: BusClient): BusClient | undefined {
    if (this.#isClosed) {
      client.close();
      return undefined;
    }
    this.#client = client;
    client.onSignal?.(() => this.#bell.ring());
    for (const match of MATCH_CALLS) client.call(match).catch(() => {}); // without it the wait polls
    return client;
  }

  /** The answer of one question as an entry of the facts; none where it did not come in time. */
  async #ask(client: BusClient, question: Question): Promise<[keyof BusFacts, unknown][]> {
    const asked = this.#pending.get(question) ?? this.#send(client, question);
    const values = await this.#within(asked);
    if (this.#pending.has(question)) this.#late.add(question);
    const fact = values && question.read(values);
    return fact === undefined ? [] : [[question.fact, fact]];
  }

  #send(client: BusClient, question: Question): Promise<Values | undefined> {
    const answer = client
      .call(question.call, { timeoutMs: QUESTION_MS })
      .catch((error: unknown) => {
        if (!isAnswer(error)) this.#lose(client);
        return undefined;
      })
      .finally(() => {
        this.#pending.delete(question);
        if (this.#late.delete(question)) this.#bell.ring();
      });
    this.#pending.set(question, answer);
    return answer;
  }

  #lose(client: BusClient): void {
    client.close();
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#pending.clear();
  }

  async #within<T>(work: Promise<T>): Promise<T | undefined> {
    const { answerMs = 250 } = this.#options;
    const patience = this.#runningSince === undefined ? 1 : RUNNING_PATIENCE;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), answerMs * patience);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Looks for mute names in the background: a look at the screen does not wait for their timeout. */
  #probe(now: number): void {
    const { muteNames } = this.#options;
    if (muteNames === undefined || this.#probing !== undefined || now - this.#probedAt < PROBE_EVERY_MS)
      return;
    this.#probedAt = now;
    this.#probing = muteNames
      .call(this.#options)
      .then((names) => this.#heardMute(names, now))
      .catch(() => {}) // a bus that is not there has no mute names
      .finally(() => {
        this.#probing = undefined;
      });
  }

  #heardMute(names: readonly string[], askedAt: number): void {
    const mute = new Set(names.slice(0, MAX_MUTE).map((name) => name.slice(0, MAX_NAME_CHARACTERS)));
    for (const name of this.#muteSince.keys()) if (!mute.has(name)) this.#muteSince.delete(name);
    for (const name of mute) if (!this.#muteSince.has(name)) this.#muteSince.set(name, askedAt);
  }

  #mute(now: number): MuteName[] {
    return [...this.#muteSince].map(([name, since]) => ({ name, forMs: Math.round(now - since) }));
  }
}

/** An error of the peer's is an answer too, and one that comes late ends no connection. */
function isAnswer(error: unknown): boolean {
  const { errorName, code } = (error ?? {}) as { errorName?: unknown; code?: unknown };
  return typeof errorName === "string" || code === "TIMEOUT";
}
