import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { isAbort } from "../src/errors.js";
import { abortOnSignals, interruptedStatus } from "../src/interrupt.js";
import { KeptOutput } from "./support/output.js";

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("the first %s aborts, the second says that the teardown is under way", (name, status) => {
  const [source, stderr] = [new EventEmitter(), new KeptOutput()];
  const signal = abortOnSignals(source, stderr);
  expect(interruptedStatus(signal)).toBeUndefined();
  source.emit(name, name);
  expect(signal.aborted).toBe(true);
  expect(stderr.text).toBe(`\ndrums: ${name}: stopping, and taking everything down\n`);
  const { reason } = signal;
  source.emit("SIGINT", "SIGINT");
  expect(stderr.text).toContain("teardown is under way");
  expect(signal.reason).toBe(reason);
  expect(isAbort(reason)).toBe(true);
  expect(interruptedStatus(signal)).toBe(status);
});

test("a signal aborted for another reason has no exit status of its own", () => {
  expect(interruptedStatus(AbortSignal.abort())).toBeUndefined();
});
