import type { StepEvent } from "../evidence/events.js";
import { durationText, type Output, type Paint, paintFor, printable, widthOf } from "./style.js";

/** Shows what is being done and for how long. It writes to stderr alone: stdout is for the result. */
export interface Progress {
  /** Runs a step and shows it. */
  step<T>(label: string, run: () => Promise<T>): Promise<T>;
  /** What the step is at, such as "40 %": shown on a terminal's live line. */
  update(detail: string): void;
  /** A line of its own. */
  note(text: string): void;
  /** Shows the steps of an evidence log; give it to `openEvidence` as `onStep`. */
  readonly onStep: (event: StepEvent) => void;
  /** Takes the live line away. */
  close(): void;
}

export interface ProgressOptions {
  /** Shows nothing. Default false. */
  readonly quiet?: boolean;
  readonly env?: NodeJS.ProcessEnv;
}

/** How often a live line is drawn anew. */
const REDRAW_MS = 100;
/** On a pipe or file, a step that takes longer than this is named while it runs. */
const ANNOUNCE_MS = 1000;

const MARKS = { ok: ["✓", "green"], failed: ["✗", "red"], interrupted: ["-", "yellow"] } as const;

/** Progress on an output: a live line on a terminal, plain lines elsewhere. */
export function progressOn(
  output: Output,
  { quiet = false, env = process.env }: ProgressOptions = {},
): Progress {
  const sink = quiet ? silent : output.isTTY === true ? new LiveLine(output) : new PlainLines(output);
  const shown = new ShownSteps(sink, paintFor(output, env));
  return {
    step: (label, run) => shown.run(label, run),
    update: (detail) => shown.update(detail),
    note: (text) => sink.line(text),
    onStep: (event) => shown.onStep(event),
    close: () => shown.close(),
  };
}

/** Where steps are shown: finished ones as lines, running ones as the output can. */
interface Sink {
  line(text: string): void;
  /** Called ten times a second with what runs, newest last. */
  running(steps: readonly Running[]): void;
  clear(): void;
}

interface Running {
  readonly label: string;
  readonly since: number;
  detail: string;
  announced: boolean;
}

const silent: Sink = { line: () => {}, running: () => {}, clear: () => {} };

class ShownSteps {
  readonly #running: Running[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(
    readonly sink: Sink,
    readonly paint: Paint,
  ) {}

  async run<T>(label: string, run: () => Promise<T>): Promise<T> {
    this.start(label);
    try {
      const result = await run();
      this.end(label, "ok");
      return result;
    } catch (error) {
      this.end(label, "failed");
      throw error;
    }
  }

  onStep(event: StepEvent): void {
    if (event.event === "start") this.start(event.step);
    else this.end(event.step, event.outcome, event.durationMs);
  }

  update(detail: string): void {
    const newest = this.#running.at(-1);
    if (newest) newest.detail = detail;
  }

  start(label: string): void {
    this.#running.push({ label, since: performance.now(), detail: "", announced: false });
    // unref: a display must not keep the process alive.
    this.#timer ??= setInterval(() => this.sink.running(this.#running), REDRAW_MS).unref();
    this.sink.running(this.#running);
  }

  end(label: string, outcome: keyof typeof MARKS, durationMs?: number): void {
    const index = this.#running.findIndex((step) => step.label === label);
    const [step] = index < 0 ? [] : this.#running.splice(index, 1);
    const took = durationMs ?? performance.now() - (step?.since ?? performance.now());
    const [mark, colour] = MARKS[outcome];
    const tail = outcome === "ok" ? "" : `, ${outcome}`;
    this.sink.line(
      `${this.paint(colour, mark)} ${printable(label)} ${this.paint("dim", `(${durationText(took)}${tail})`)}`,
    );
    if (this.#running.length === 0) this.close();
    else this.sink.running(this.#running);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.sink.clear();
  }
}

/** One line at the bottom of a terminal, drawn over. */
class LiveLine implements Sink {
  constructor(readonly output: Output) {}

  line(text: string): void {
    this.clear();
    this.output.write(`${text}\n`);
  }

  running(steps: readonly Running[]): void {
    const texts = steps.map(
      (step) => `${step.label}${step.detail && ` ${step.detail}`} ${durationText(age(step))}`,
    );
    const text = printable(`… ${texts.join(" | ")}`);
    this.output.write(`\r\u001b[2K${text.slice(0, widthOf(this.output) - 1)}`);
  }

  clear(): void {
    this.output.write("\r\u001b[2K");
  }
}

/** A line for each finished step, and one for a step that takes long. */
class PlainLines implements Sink {
  constructor(readonly output: Output) {}

  line(text: string): void {
    this.output.write(`${text}\n`);
  }

  running(steps: readonly Running[]): void {
    for (const step of steps.filter((one) => !one.announced && age(one) >= ANNOUNCE_MS)) {
      step.announced = true;
      this.line(`… ${printable(step.label)}`);
    }
  }

  clear(): void {}
}

function age({ since }: Running): number {
  return performance.now() - since;
}
