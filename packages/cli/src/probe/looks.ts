import { createHash } from "node:crypto";
import { type HostBus, readHostBus } from "@drums/dbus-private";
import { readNamespaces } from "@drums/nsexec/proc";
import { type BusFacts, encodePng } from "@drums/readiness";
import { monotonicMs } from "../evidence/clock.js";
import { type Beside, folderOf } from "../evidence/records.js";
import type { Attempt } from "../evidence/writer.js";
import type { Sibling } from "../fork/sibling.js";
import type { DesktopRecipe } from "../recipes/types.js";
import { lookAtShell } from "../session/boot/ready.js";
import { inspectBus } from "../session/bus.js";
import type { LiveSession } from "../session/open.js";
import { initOf, observeProcesses, readIdentity, readMarker, readToken, sight } from "./facts.js";
import { lookAtLock } from "./locks.js";
import type { Done, ProbeTask } from "./tasks/index.js";

/** Label of what is typed into each sibling; the original must have nothing of that name. */
export const TYPED = "typed";

/** What the looks are at. */
export interface Subject {
  readonly desktop: DesktopRecipe;
  readonly task: ProbeTask;
}

/** Looks at living sessions, and writes what was seen into an attempt's records. No look decides anything. */
export class Looks {
  readonly #attempt: Attempt;
  readonly #subject: Subject;
  #hostBusBefore: HostBus | undefined;

  constructor(attempt: Attempt, subject: Subject) {
    this.#attempt = attempt;
    this.#subject = subject;
  }

  /** Before anything is started: every later look at a bus tells whether the host's is still the same. */
  async atHostBus(): Promise<void> {
    this.#hostBusBefore = await readHostBus();
  }

  async atBus(
    live: LiveSession,
    name: "bus.json" | `${ReturnType<typeof folderOf>}/bus.json`,
  ): Promise<void> {
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

  /** The screen that siblings are compared with, and the windows and the desktop's own word of the same moment. */
  async atReference(live: LiveSession): Promise<void> {
    await this.#attempt.file("screens/reference.png", await encodePng(await live.frame()));
    await this.#attempt.record("reference/facts.json", { facts: { ...(await live.facts()) } });
    const bus = await this.#shell(live);
    if (bus !== undefined) await this.#attempt.record("reference/shell.json", { bus });
    const { lockedPath } = this.#subject.task;
    if (lockedPath !== undefined)
      await this.#attempt.record("locks.json", await lookAtLock(live, lockedPath));
  }

  /** A sibling as it was restored, before anything is typed into it. */
  async atSibling(live: LiveSession, sibling: Exclude<Beside, "twin">): Promise<void> {
    const folder = folderOf(sibling);
    await this.#desktop(live, sibling);
    await this.#attempt.record(`${folder}/processes.json`, await observeProcesses(initOf(live)));
    await this.#attempt.record(`${folder}/token.json`, await readToken(live));
    await this.#attempt.record(`${folder}/identity.json`, await readIdentity(live));
    await this.#attempt.record(`${folder}/marker.json`, await readMarker(live));
    const { lockedPath } = this.#subject.task;
    if (lockedPath !== undefined && sibling !== "second")
      await this.#attempt.record(`${folder}/locks.json`, await lookAtLock(live, lockedPath));
  }

  /** Another session of the image, beside the original. */
  async atTwin(original: LiveSession, twin: LiveSession): Promise<void> {
    await this.#desktop(twin, "twin");
    await this.#attempt.record("twin/together.json", {
      observedMs: monotonicMs(),
      original: await sight(initOf(original)),
      twin: await sight(initOf(twin)),
    });
  }

  /** Pixels, windows, the desktop's own word, bus and namespaces of a session beside the original. */
  async #desktop(live: LiveSession, beside: Beside): Promise<void> {
    const folder = folderOf(beside);
    await this.#attempt.file(`${folder}/screen.png`, await encodePng(await live.frame()));
    await this.#attempt.record(`${folder}/facts.json`, { facts: { ...(await live.facts()) } });
    const bus = await this.#shell(live);
    if (bus !== undefined) await this.#attempt.record(`${folder}/shell.json`, { bus });
    await this.atBus(live, `${folder}/bus.json`);
    await this.#attempt.record(`${folder}/namespaces.json`, {
      namespaces: await readNamespaces(initOf(live).pid),
    });
  }

  #shell(live: LiveSession): Promise<BusFacts | undefined> {
    return lookAtShell(live, this.#subject.desktop);
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

  /** What typing into a session came to; `expected` is all that must be read afterwards. */
  async atWork(
    sibling: Exclude<Beside, "twin">,
    { content, frame, documents }: Done,
    { expected, place }: { readonly expected: string; readonly place: string },
  ): Promise<void> {
    const folder = folderOf(sibling);
    await this.#attempt.file(`${folder}/screen-typed.png`, await encodePng(frame));
    await this.#attempt.record(`${folder}/typed.json`, { sentence: expected, path: place, content });
    if (documents.length === 0) return;
    for (const { format, bytes } of documents)
      await this.#attempt.file(`${folder}/document.${format}`, bytes);
    await this.#attempt.record(`${folder}/documents.json`, {
      documents: documents.map(({ format, path, bytes }) => ({
        format,
        path,
        bytes: bytes.length,
        sha256: createHash("sha256").update(bytes).digest("hex"),
      })),
    });
  }

  /** The original, after its siblings were typed into. */
  async atOriginal(live: LiveSession): Promise<void> {
    const { task } = this.#subject;
    await this.#attempt.file("original/screen.png", await encodePng(await live.frame()));
    await this.#attempt.record("original/after.json", {
      init: await sight(initOf(live)),
      token: (await readToken(live)).value,
      marker: (await readMarker(live)).content,
      typedPath: task.place(TYPED),
      typedContent: await task.read(live, TYPED),
    });
  }
}
