import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Criu } from "@drums/criu";
import { readHostBus } from "@drums/dbus-private";
import { loadCheckpoint } from "../checkpoint/load.js";
import { DrumsError, EXIT } from "../errors.js";
import { type Beside, folderOf } from "../evidence/records.js";
import type { Attempt } from "../evidence/writer.js";
import { runQueue } from "../fork/queue.js";
import type { Sibling } from "../fork/sibling.js";
import type { Home } from "../home.js";
import { collectPreflight } from "../preflight/index.js";
import type { ApplicationRecipe, DesktopRecipe } from "../recipes/types.js";
import { assertLimitsAvailable } from "../session/limits.js";
import type { LiveSession } from "../session/open.js";
import { findResidue } from "../session/residue.js";
import { upSession } from "../session/up.js";
import { openApplication } from "./application.js";
import { initOf, makeMarker, makeToken, observeProcesses, readIdentity } from "./facts.js";
import { type GenerationTools, recordDump, recordRestore } from "./generation.js";
import { readHostFacts } from "./host-facts.js";
import { Looks, TYPED } from "./looks.js";
import { type RulesFacts, recordBoot } from "./observer.js";
import { readParity } from "./parity-facts.js";
import type { ProbeRequest } from "./run.js";
import { type HeldSession, Sessions } from "./sessions.js";
import { type ProbeTask, taskOf } from "./tasks/index.js";

/** What a course is run with. */
export interface CourseOptions {
  readonly criu: () => Promise<Criu>;
  readonly signal?: AbortSignal | undefined;
}

/** What is asked of a course: a probe's request with its recipes found. */
export interface CourseRequest extends Omit<ProbeRequest, "desktop" | "application"> {
  readonly desktop: DesktopRecipe;
  readonly application: ApplicationRecipe;
}

/** Label of what is typed into the second generation. */
const TYPED_AGAIN = "typed-again";

/** One attempt's course, step by step, each step with its records. */
export class Course {
  readonly #home: Home;
  readonly #request: CourseRequest;
  readonly #attempt: Attempt;
  readonly #options: CourseOptions;
  readonly #sessions: Sessions;
  readonly #task: ProbeTask;
  readonly #looks: Looks;
  readonly #checkpoints: { readonly first: string; readonly second: string };
  /** By their numbers, from 1; one that could not be restored is not among them. */
  readonly #siblings = new Map<number, Sibling>();
  #token = "";
  /** What was typed before the dump, and so begins what is read of each sibling. */
  #remembered = "";

  constructor(home: Home, request: CourseRequest, attempt: Attempt, options: CourseOptions) {
    const name = `probe-${process.pid}-${Date.now().toString(36)}`;
    this.#home = home;
    this.#request = request;
    this.#attempt = attempt;
    this.#options = options;
    this.#sessions = new Sessions(home, attempt);
    this.#task = taskOf(request.application);
    this.#looks = new Looks(attempt, { desktop: request.desktop, task: this.#task });
    this.#checkpoints = { first: name, second: `${name}-second` };
  }

  /** From the machine's own facts to the original's state after all. Throws what ended it. */
  async run(): Promise<void> {
    await this.#step("host", async () => this.#attempt.record("host.json", await readHostFacts()));
    await this.#step("preflight", () => this.#preflight());
    const { live } = await this.#bringUp();
    await this.#step("twin", () => this.#twin(live));
    await this.#before(live);
    const tools = await this.#tools();
    await this.#step("dump", () => this.#dump(live, tools, { name: this.#checkpoints.first, folder: "" }));
    await this.#restore(tools);
    await this.#each("sibling", (one, number) => this.#looks.atSibling(one, number));
    await this.#step("together", () => this.#looks.atAll(live, this.#siblings));
    await this.#each("typing", (one, number) =>
      this.#type(one, { beside: number, who: `Sibling ${number}`, label: TYPED, before: this.#remembered }),
    );
    await this.#step("second", () => this.#second(tools));
    await this.#step("original", () => this.#looks.atOriginal(live));
    const { desktop } = this.#request;
    await this.#step("parity", async () =>
      this.#attempt.record(
        "parity.json",
        await readParity(live, { layered: [desktop.xServer.program], desktop }),
      ),
    );
  }

  /** Takes down everything of the course, whatever was reached, then looks for what is left. Runs after an abort too. */
  async takeDown(): Promise<void> {
    await this.#attempt.step("teardown", async () => {
      const faults = await this.#sessions.endAll();
      const folders = Object.values(this.#checkpoints).map((name) => join(this.#home.checkpoints, name));
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
      const residue = await findResidue({ home: this.#home, sessionIds: this.#sessions.ids, folders });
      await this.#attempt.record("teardown.json", {
        ...residue,
        hostSocket: (await readHostBus()).identity ?? null,
        more: { faults },
      });
      if (faults.length > 0) throw takedownFailed(faults);
    });
  }

  /** A step during which the abort came is interrupted, however far its work got. */
  #step<T>(name: string, body: () => Promise<T>): Promise<T> {
    const { signal } = this.#options;
    signal?.throwIfAborted();
    return this.#attempt.step(name, async () => {
      const result = await body();
      signal?.throwIfAborted();
      return result;
    });
  }

  async #preflight(): Promise<void> {
    const items = await collectPreflight({ home: this.#home, siblings: this.#request.siblings });
    await this.#attempt.record("preflight.json", { items });
    await assertLimitsAvailable(this.#request);
    const blockers = items.filter(({ status }) => status === "blocker");
    if (blockers.length === 0) return;
    throw new DrumsError({
      code: "PREFLIGHT",
      exitCode: EXIT.blocker,
      what: "this machine cannot run the probe",
      why: blockers.map(({ name, detail }) => `${name}: ${detail}`).join("; "),
      hint: blockers.map(({ remedy }) => remedy).join("; "),
    });
  }

  async #bringUp(): Promise<HeldSession> {
    const { desktop } = this.#request;
    await this.#looks.atHostBus();
    const up = await upSession(this.#home, this.#upRequest(), {
      step: (name, body) => this.#step(name, body),
      observe: {
        ...recordBoot(this.#attempt, { rules: rulesFacts(desktop, desktop.window) }),
        failed: (live) => this.#sessions.keepLogs(live, "session"),
        created: async ({ id }) => {
          this.#sessions.ids.push(id);
        },
        bused: (live) => this.#looks.atBus(live, "bus.json"),
      },
      signal: this.#options.signal,
    });
    return this.#sessions.hold({ ...up, evidence: "session" });
  }

  #upRequest() {
    return { ...this.#request, desktop: this.#request.desktop.name };
  }

  /** A second session of the image beside the first: up, looked at, and gone again. */
  async #twin(original: LiveSession): Promise<void> {
    const up = await upSession(this.#home, this.#upRequest(), {
      observe: {
        created: async ({ id }) => {
          this.#sessions.ids.push(id);
        },
      },
      signal: this.#options.signal,
    });
    const twin = this.#sessions.hold({ ...up, evidence: folderOf("twin") });
    await this.#looks.atTwin(original, twin.live);
    await this.#sessions.end(twin);
  }

  /** What siblings must carry on: an application with what was typed into it, a token, a marker, the processes. */
  async #before(live: LiveSession): Promise<void> {
    await this.#step("application", () => this.#open(live));
    await this.#step("marker", async () => {
      const marker = await makeMarker(live, `marked at ${new Date().toISOString()}`);
      await this.#attempt.record("marker.json", marker);
    });
    await this.#step("processes", async () =>
      this.#attempt.record("processes.json", await observeProcesses(initOf(live))),
    );
    await this.#step("reference", () => this.#looks.atReference(live));
  }

  async #open(live: LiveSession): Promise<void> {
    const { desktop, application } = this.#request;
    const { openedMs } = await openApplication(live, desktop, application, this.#options);
    await this.#step("token", async () => {
      const token = await makeToken(live);
      await this.#attempt.record("token.json", token);
      await this.#attempt.record("identity.json", await readIdentity(live));
      this.#token = token.value;
    });
    this.#remembered = await this.#task.prepare(live, this.#token);
    await this.#attempt.record("application.json", {
      name: application.name,
      argv: application.argv === undefined ? null : [...application.argv],
      process: application.process,
      rules: rulesFacts(desktop, application.window),
      openedMs,
      place: this.#task.place(TYPED),
      content: await this.#task.read(live, TYPED),
      remembered: this.#remembered,
    });
  }

  async #tools(): Promise<GenerationTools> {
    const { signal } = this.#options;
    return { home: this.#home, attempt: this.#attempt, criu: await this.#options.criu(), signal };
  }

  #dump(
    live: LiveSession,
    tools: GenerationTools,
    what: { readonly name: string; readonly folder: "" | "second/" },
  ): Promise<void> {
    const step = <T>(name: string, body: () => Promise<T>) =>
      this.#step(what.folder === "" ? name : `${name}/second`, body);
    return recordDump(live, tools, { ...what, step });
  }

  /** All at the same time: the claim is that they are independent, so they are not given turns. */
  async #restore(tools: GenerationTools): Promise<void> {
    const { siblings: count } = this.#request;
    await this.#step("restore", async () => {
      const checkpoint = await loadCheckpoint(this.#home, this.#checkpoints.first, tools);
      const one = (number: number) =>
        this.#step(`restore/${number}`, async () => {
          const where = { folder: folderOf(number), ids: this.#sessions.ids };
          const sibling = await recordRestore(checkpoint, tools, where);
          this.#siblings.set(number, this.#sessions.hold({ ...sibling, evidence: where.folder }));
        });
      const outcomes = await runQueue(count, one, { concurrency: count, signal: this.#options.signal });
      const failed = outcomes.find((outcome) => outcome.status === "rejected");
      if (failed) throw failed.reason;
    });
  }

  /** Types a sentence into a session, and gives what must be read there afterwards. */
  async #type(
    live: LiveSession,
    work: {
      readonly beside: Exclude<Beside, "twin">;
      readonly who: string;
      readonly label: string;
      readonly before: string;
    },
  ): Promise<string> {
    const { beside, who, label, before } = work;
    const sentence = this.#task.sentence(who, this.#token);
    const done = await this.#task.perform(live, { sentence, label });
    const expected = `${before}${sentence}`;
    await this.#looks.atWork(beside, done, { expected, place: this.#task.place(label) });
    return `${expected}${this.#task.separator}`;
  }

  /** The first sibling, typed into already, is dumped itself and forked once. */
  async #second(tools: GenerationTools): Promise<void> {
    const first = this.#siblings.get(1);
    if (first === undefined) return;
    const { second: name } = this.#checkpoints;
    await this.#dump(first.live, tools, { name, folder: "second/" });
    const checkpoint = await loadCheckpoint(this.#home, name, tools);
    const where = { folder: folderOf("second"), ids: this.#sessions.ids };
    const sibling = await recordRestore(checkpoint, tools, where);
    this.#sessions.hold({ ...sibling, evidence: where.folder });
    await this.#looks.atSibling(sibling.live, "second");
    const { separator } = this.#task;
    const before = `${this.#remembered}${this.#task.sentence("Sibling 1", this.#token)}${separator}`;
    await this.#type(sibling.live, {
      beside: "second",
      who: "Its own sibling",
      label: TYPED_AGAIN,
      before,
    });
  }

  /** A step for each sibling, one after another: what is looked at must not be hurried by the others. */
  async #each(step: string, body: (live: LiveSession, number: number) => Promise<unknown>): Promise<void> {
    for (const [number, { live }] of this.#siblings)
      await this.#step(`${step}/${number}`, () => body(live, number));
  }
}

function rulesFacts({ rules: name }: DesktopRecipe, window: DesktopRecipe["window"]): RulesFacts {
  return { name, ...(window && { window }) };
}

function takedownFailed(faults: readonly string[]): DrumsError {
  return new DrumsError({
    code: "TEARDOWN",
    what: "not all of the probe could be taken down",
    why: faults.join("; "),
    hint: "`drums gc` tries again; teardown.json of the evidence lists what is left",
  });
}
