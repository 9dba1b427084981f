import { codeOf, isAbort, messageOf } from "../errors.js";
import { monotonicMs } from "./clock.js";
import type { EventLog, StepEvent, StepOutcome } from "./events.js";

/** Runs steps and keeps a log of them as they happen. */
export interface StepRunner {
  run<T>(step: string, act: () => Promise<T> | T): Promise<T>;
  /** Ends the log. A step that still runs is written down as interrupted, and its own end is no longer told. */
  close(): Promise<void>;
}

interface OpenStep {
  readonly step: string;
  readonly startedMs: number;
}

/** A runner over an event log; `onStep` hears of every event as well. */
export function stepRunner(log: EventLog, onStep: (event: StepEvent) => void): StepRunner {
  const running = new Set<OpenStep>();
  const tell = async (event: StepEvent): Promise<void> => {
    onStep(event);
    await log.append(event);
  };
  const end = async (open: OpenStep, outcome: StepOutcome, error?: ErrorFacts): Promise<void> => {
    if (running.delete(open)) await tell(endEvent(open, outcome, error));
  };
  return {
    run: async (step, act) => {
      const open = { step, startedMs: monotonicMs() };
      running.add(open);
      await tell({ version: 1, event: "start", step, ...moment(open.startedMs) });
      let result: Awaited<ReturnType<typeof act>>;
      try {
        result = await act();
      } catch (thrown) {
        await end(open, isAbort(thrown) ? "interrupted" : "failed", errorFacts(thrown));
        throw thrown;
      }
      await end(open, "ok");
      return result;
    },
    close: async () => {
      for (const open of [...running]) await end(open, "interrupted", { message: "the attempt was closed" });
      await log.close();
    },
  };
}

function endEvent(open: OpenStep, outcome: StepOutcome, error: ErrorFacts | undefined): StepEvent {
  const now = monotonicMs();
  const durationMs = Math.round((now - open.startedMs) * 1000) / 1000;
  return {
    version: 1,
    event: "end",
    step: open.step,
    ...moment(now),
    durationMs,
    outcome,
    ...(error && { error }),
  };
}

function moment(at: number): { monotonicMs: number; at: string } {
  return { monotonicMs: at, at: new Date().toISOString() };
}

interface ErrorFacts {
  readonly message: string;
  readonly code?: string;
  readonly hint?: string;
}

function errorFacts(thrown: unknown): ErrorFacts {
  const code = codeOf(thrown);
  const hint = typeof thrown === "object" && thrown !== null && "hint" in thrown ? thrown.hint : undefined;
  return {
    message: messageOf(thrown),
    ...(code !== undefined && { code }),
    ...(typeof hint === "string" && { hint }),
  };
}
