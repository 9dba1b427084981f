import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Criu } from "@drums/criu";
import { readHostBus } from "@drums/dbus-private";
import { encodePng } from "@drums/readiness";
import { createCheckpoint } from "../checkpoint/create.js";
import { type LoadedCheckpoint, loadCheckpoint } from "../checkpoint/load.js";
import { DrumsError, EXIT, messageOf } from "../errors.js";
import type { Attempt } from "../evidence/writer.js";
import { runQueue } from "../fork/queue.js";
import { restoreSibling, type Sibling } from "../fork/sibling.js";
import type { Home } from "../home.js";
import { collectPreflight } from "../preflight/index.js";
import { findDesktop } from "../recipes/find.js";
import type { DesktopRecipe } from "../recipes/types.js";
import type { LiveSession } from "../session/open.js";
import { INSIDE } from "../session/paths.js";
import { removeSession } from "../session/remove.js";
import { findResidue } from "../session/residue.js";
import { type UpResult, upSession } from "../session/up.js";
import { initOf, makeMarker, makeToken, observeProcesses, sight } from "./facts.js";
import { readHostFacts } from "./host-facts.js";
import { Looks } from "./looks.js";
import { type RulesFacts, recordBoot } from "./observer.js";
import { readParity } from "./parity-facts.js";
import type { ProbeRequest } from "./run.js";
import { typeIntoMemory } from "./typing.js";

/** What a course is run with. */
export interface CourseOptions {
  readonly criu: () => Promise<Criu>;
  readonly signal?: AbortSignal | undefined;
}

/** One attempt's course, step by step, each step with its records. */
export class Course {
  readonly #home: Home;
  readonly #request: ProbeRequest;
  readonly #attempt: Attempt;
  readonly #options: CourseOptions;
  readonly #checkpoint: string;
  /** By their numbers, from 1; one that could not be restored is not among them. */
  readonly #siblings = new Map<number, Sibling>();
  readonly #sessionIds: string[] = [];
  readonly #looks: Looks;
  #up: UpResult | undefined;
  #token = "";

  constructor(home: Home, request: ProbeRequest, attempt: Attempt, options: CourseOptions) {
    this.#home = home;
    this.#request = request;
    this.#attempt = attempt;
    this.#options = options;
    this.#looks = new Looks(attempt);
    this.#checkpoint = `probe-${process.pid}-${Date.now().toString(36)}`;
  }

  /** From the machine's own facts to the original's state after all. Throws what ended it. */
  async run(): Promise<void> {
    await this.#step("host", async () => this.#attempt.record("host.json", await readHostFacts()));
    await this.#step("preflight", () => this.#preflight());
    const original = await this.#bringUp();
    await this.#before(original.live);
    await this.#dump(original.live);
    await this.#restore();
    await this.#each("sibling", (live, number) => this.#looks.atSibling(live, number));
    await this.#step("together", () => this.#looks.atAll(original.live, this.#siblings));
    await this.#each("typing", (live, number) => this.#looks.whileTyping(live, number, this.#token));
    await this.#step("original", () => this.#looks.atOriginal(original.live));
    await this.#step("parity", async () =>
      this.#attempt.record("parity.json", await readParity(original.live, { layered: ["/usr/bin/Xvfb"] })),
    );
  }

  /** Takes down everything of the course, whatever was reached, then looks for what is left. Runs after an abort too. */
  async takeDown(): Promise<void> {
    await this.#attempt.step("teardown", async () => {
      const faults = await this.#removeAll();
      const residue = await findResidue({
        home: this.#home,
        sessionIds: this.#sessionIds,
        folders: [join(this.#home.checkpoints, this.#checkpoint)],
      });
      await this.#attempt.record("teardown.json", {
        ...residue,
        hostSocket: (await readHostBus()).identity ?? null,
        more: { faults },
      });
      if (faults.length > 0) throw takedownFailed(faults);
    });
  }

  /** The logs of a session's programs, kept before its folder goes. One that cannot be read is not there. */
  async #keepLogs({ root, record }: LiveSession): Promise<void> {
    const sibling = [...this.#siblings].find(([, { folder }]) => folder.id === record.id);
    const folder = sibling === undefined ? "session" : `siblings/${sibling[0]}`;
    const names = await root.list(INSIDE.logs).catch(() => []);
    for (const name of names.filter((one) => /^[\w.-]+\.log$/.test(one))) {
      const log = await root.readFile(`${INSIDE.logs}/${name}`, { larger: "tail" }).catch(() => undefined);
      if (log !== undefined) await this.#attempt.file(`${folder}/logs/${name}`, log);
    }
  }

  /** A log of the host's own making; one that was never written is not there. */
  async #keepFile(name: string, path: string): Promise<void> {
    const content = await readFile(path).catch(() => undefined);
    if (content !== undefined) await this.#attempt.file(name, content);
  }

  async #removeAll(): Promise<string[]> {
    const sessions = [...this.#siblings.values(), ...(this.#up ? [this.#up] : [])];
    const faults: string[] = [];
    for (const { live, folder } of sessions) {
      await this.#keepLogs(live);
      live.close();
      await removeSession(this.#home, folder).catch((error: unknown) => faults.push(messageOf(error)));
    }
    await rm(join(this.#home.checkpoints, this.#checkpoint), { recursive: true, force: true });
    return faults;
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

  async #bringUp(): Promise<UpResult> {
    await this.#looks.atHostBus();
    this.#up = await upSession(this.#home, this.#request, {
      step: (name, body) => this.#step(name, body),
      observe: {
        ...recordBoot(this.#attempt, { rules: rulesFacts(findDesktop(this.#request.desktop)) }),
        failed: (live) => this.#keepLogs(live),
        created: async ({ id }) => {
          this.#sessionIds.push(id);
        },
        bused: (live) => this.#looks.atBus(live, "bus.json"),
      },
      signal: this.#options.signal,
    });
    return this.#up;
  }

  /** What siblings must carry on: a token in a file and in a shell's memory, a marker, the processes. */
  async #before(live: LiveSession): Promise<void> {
    await this.#step("token", async () => {
      const token = await makeToken(live);
      await this.#attempt.record("token.json", token);
      this.#token = token.value;
      await typeIntoMemory(live, token.value);
    });
    await this.#step("marker", async () => {
      await this.#attempt.record(
        "marker.json",
        await makeMarker(live, `marked at ${new Date().toISOString()}`),
      );
    });
    await this.#step("processes", async () => {
      await this.#attempt.record("processes.json", await observeProcesses(initOf(live)));
    });
    await this.#step("reference", async () => {
      await this.#attempt.file("screens/reference.png", await encodePng(await live.frame()));
    });
  }

  async #dump(live: LiveSession): Promise<void> {
    const criu = await this.#options.criu();
    const report = await this.#step("dump", () =>
      createCheckpoint(this.#home, live.record, {
        name: this.#checkpoint,
        criu,
        onAudit: ({ verdict, durationMs, findings }) =>
          this.#step("audit", () =>
            this.#attempt.record("audit.json", {
              verdict,
              durationMs,
              findings: findings.map((one) => ({ ...one })),
            }),
          ),
        onLog: (path) => this.#keepFile("dump.log", path),
        signal: this.#options.signal,
      }),
    );
    const { dump, upper, startedMs, endedMs } = report;
    await this.#attempt.record("dump.json", {
      criu: { version: criu.version, source: criu.source, digest: criu.digest },
      options: { ...dump.flags, leaveRunning: true },
      startedMs,
      endedMs,
      report: { frozenMs: dump.frozenMs, totalMs: dump.totalMs, bytes: dump.bytes },
      upper: { bytes: upper.bytes, reflink: upper.reflink },
      original: await sight(initOf(live)),
    });
  }

  /** All at the same time: the claim is that they are independent, so they are not given turns. */
  async #restore(): Promise<void> {
    const criu = await this.#options.criu();
    const { siblings: count } = this.#request;
    await this.#step("restore", async () => {
      const checkpoint = await loadCheckpoint(this.#home, this.#checkpoint, { criu });
      const outcomes = await runQueue(count, (number) => this.#restoreOne(checkpoint, criu, number), {
        concurrency: count,
        signal: this.#options.signal,
      });
      const failed = outcomes.find((outcome) => outcome.status === "rejected");
      if (failed) throw failed.reason;
    });
  }

  async #restoreOne(checkpoint: LoadedCheckpoint, criu: Criu, number: number): Promise<void> {
    await this.#step(`restore/${number}`, async () => {
      const sibling = await restoreSibling(this.#home, checkpoint, {
        criu,
        onFailed: ({ restore }) =>
          this.#keepFile(`siblings/${number}/restore.log`, join(restore, "restore.log")),
        onCreated: ({ id }) => {
          this.#sessionIds.push(id);
        },
        signal: this.#options.signal,
      });
      this.#siblings.set(number, sibling);
      const { report, startedMs, endedMs } = sibling;
      await this.#keepFile(`siblings/${number}/restore.log`, report.logFile);
      await this.#attempt.record(`siblings/${number}/restore.json`, {
        pid: report.pid,
        startTime: report.startTime,
        startedMs,
        endedMs,
        criu: criu.version,
      });
    });
  }

  /** A step for each sibling, one after another: what is looked at must not be hurried by the others. */
  async #each(step: string, body: (live: LiveSession, number: number) => Promise<void>): Promise<void> {
    for (const [number, { live }] of this.#siblings)
      await this.#step(`${step}/${number}`, () => body(live, number));
  }
}

function rulesFacts({ window }: DesktopRecipe): RulesFacts {
  return { name: "default", ...(window && { window }) };
}

function takedownFailed(faults: readonly string[]): DrumsError {
  return new DrumsError({
    code: "TEARDOWN",
    what: "not all of the probe could be taken down",
    why: faults.join("; "),
    hint: "`drums gc` tries again; teardown.json of the evidence lists what is left",
  });
}
