import { type HostBus, readHostBus } from "@drums/dbus-private";
import { readNamespaces } from "@drums/nsexec/proc";
import { encodePng } from "@drums/readiness";
import { monotonicMs } from "../evidence/clock.js";
import type { Attempt } from "../evidence/writer.js";
import type { Sibling } from "../fork/sibling.js";
import { inspectBus } from "../session/bus.js";
import type { LiveSession } from "../session/open.js";
import { initOf, observeProcesses, readIfThere, readMarker, readToken, sight } from "./facts.js";
import { sentenceFor, TYPED_FILE, typeSentence } from "./typing.js";

/** Looks at living sessions, and writes what was seen into an attempt's records. No look decides anything. */
export class Looks {
  readonly #attempt: Attempt;
  #hostBusBefore: HostBus | undefined;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  /** Before anything is started: every later look at a bus tells whether the host's is still the same. */
  async atHostBus(): Promise<void> {
    this.#hostBusBefore = await readHostBus();
  }

  async atBus(live: LiveSession, name: "bus.json" | `siblings/${number}/bus.json`): Promise<void> {
    const { report, socket } = await inspectBus(live);
    const after = await readHostBus();
    const before = this.#hostBusBefore ?? after;
    await this.#attempt.record(name, {
      id: report.id,
      names: [...report.names],
      activatable: [...report.activatable],
      missingName: report.missingName,
      socket,
      hostSocket: { path: before.path, before: before.identity ?? null, after: after.identity ?? null },
    });
  }

  /** A sibling as it was restored, before anything is typed into it. */
  async atSibling(live: LiveSession, number: number): Promise<void> {
    const folder = `siblings/${number}` as const;
    await this.#attempt.file(`${folder}/screen.png`, await encodePng(await live.frame()));
    await this.#attempt.record(`${folder}/facts.json`, { facts: { ...(await live.facts()) } });
    await this.#attempt.record(`${folder}/processes.json`, await observeProcesses(initOf(live)));
    await this.#attempt.record(`${folder}/token.json`, await readToken(live));
    await this.#attempt.record(`${folder}/marker.json`, await readMarker(live));
    await this.atBus(live, `${folder}/bus.json`);
    await this.#attempt.record(`${folder}/namespaces.json`, {
      namespaces: await readNamespaces(initOf(live).pid),
    });
  }

  /** Who lives at one moment. */
  async atAll(original: LiveSession, siblings: ReadonlyMap<number, Sibling>): Promise<void> {
    const seen = [...siblings].map(async ([sibling, { live }]) => ({
      ...(await sight(initOf(live))),
      sibling,
    }));
    await this.#attempt.record("together.json", {
      observedMs: monotonicMs(),
      original: await sight(initOf(original)),
      siblings: await Promise.all(seen),
    });
  }

  async whileTyping(live: LiveSession, number: number, token: string): Promise<void> {
    const { content, frame } = await typeSentence(live, number);
    await this.#attempt.file(`siblings/${number}/screen-typed.png`, await encodePng(frame));
    await this.#attempt.record(`siblings/${number}/typed.json`, {
      sentence: sentenceFor(number, token),
      path: TYPED_FILE,
      content,
    });
  }

  /** The original, after its siblings were typed into. */
  async atOriginal(live: LiveSession): Promise<void> {
    await this.#attempt.file("original/screen.png", await encodePng(await live.frame()));
    await this.#attempt.record("original/after.json", {
      init: await sight(initOf(live)),
      token: (await readToken(live)).value,
      marker: (await readMarker(live)).content,
      typedPath: TYPED_FILE,
      typedContent: await readIfThere(live, TYPED_FILE),
    });
  }
}
