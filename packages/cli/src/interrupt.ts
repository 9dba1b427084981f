import { constants } from "node:os";
import { DrumsError } from "./errors.js";
import type { Output } from "./render/style.js";

/** What signals arrive at; `process` is one. */
export interface SignalSource {
  on(signal: "SIGINT" | "SIGTERM", listener: (signal: NodeJS.Signals) => void): unknown;
}

/**
 * An AbortSignal for commands. The first SIGINT or SIGTERM aborts it, with an error whose code is INTERRUPTED;
 * a further one only says that the teardown is under way, since ending half-way would leave things behind.
 */
export function abortOnSignals(source: SignalSource, stderr: Output): AbortSignal {
  const controller = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) {
      stderr.write("drums: teardown is under way; should it hang, SIGKILL it and run `drums gc`\n");
      return;
    }
    stderr.write(`\ndrums: ${signal}: stopping, and taking everything down\n`);
    controller.abort(interruption(signal));
  };
  source.on("SIGINT", onSignal);
  source.on("SIGTERM", onSignal);
  return controller.signal;
}

/** The error that an interrupted command ends with. */
export function interruption(signal: NodeJS.Signals): DrumsError {
  return new DrumsError({
    code: "INTERRUPTED",
    what: `interrupted by ${signal}`,
    hint: "what had been started was taken down; run the command again to start anew",
    cause: signal,
  });
}

/** Exit status after an interruption: 128 + the signal's number, as shells say it; undefined after none. */
export function interruptedStatus({ aborted, reason }: AbortSignal): number | undefined {
  if (!aborted || !(reason instanceof DrumsError) || typeof reason.cause !== "string") return undefined;
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return 128 + (numbers[reason.cause] ?? 0);
}
