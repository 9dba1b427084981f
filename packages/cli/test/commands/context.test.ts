import { expect, test } from "vitest";
import { type CommandResult, createContext } from "../../src/commands/_context.js";
import { DrumsError, EXIT } from "../../src/errors.js";
import { interruption } from "../../src/interrupt.js";
import { KeptOutput } from "../support/output.js";

function setUp(signal = new AbortController().signal) {
  const [stdout, stderr] = [new KeptOutput(), new KeptOutput()];
  const env = { DRUMS_HOME: "/tmp/drums-home" };
  return { stdout, stderr, context: createContext({ stdout, stderr, signal, env }) };
}

const result: CommandResult = { document: { big: 5n }, text: "done\n", exitCode: EXIT.verdictFailed };

test("a result is text on stdout, or with --json one document, and progress stays on stderr", async () => {
  for (const [json, expected] of [
    [false, "done\n"],
    [true, '{\n  "big": "5"\n}\n'],
  ] as const) {
    const { stdout, stderr, context } = setUp();
    await context.run({ json }, async ({ progress }) => progress.step("working", async () => result));
    expect(stdout.text).toBe(expected);
    expect(stderr.text).toMatch(/^✓ working/);
    expect(context.exitCode()).toBe(1);
  }
});

test("the home is DRUMS_HOME, and --home wins over it", async () => {
  const { context, stdout } = setUp();
  await context.run({}, async ({ home }) => ({ document: null, text: `${home.path}\n` }));
  await context.run({ home: "/elsewhere" }, async ({ home }) => ({ document: null, text: `${home.path}\n` }));
  expect(stdout.text).toBe("/tmp/drums-home\n/elsewhere\n");
});

test("an error goes to stderr with its exit status; with --json it is the one document", async () => {
  const { stdout, stderr, context } = setUp();
  const fail = () => Promise.reject(new DrumsError({ code: "X", what: "it broke", exitCode: EXIT.blocker }));
  await context.run({}, fail);
  expect([stdout.text, context.exitCode()]).toEqual(["", 3]);
  expect(stderr.text).toContain("drums: it broke [X]");
  await context.run({ json: true }, fail);
  expect(JSON.parse(stdout.text)).toEqual({ error: { code: "X", what: "it broke" } });
});

test("an interrupted command ends with 128 + the signal's number, whatever its parts threw", async () => {
  const controller = new AbortController();
  const { context } = setUp(controller.signal);
  controller.abort(interruption("SIGINT"));
  await context.run({}, async ({ signal }) => {
    signal.throwIfAborted();
    return result;
  });
  expect(context.exitCode()).toBe(130);
  await context.run({}, () => Promise.reject(Object.assign(new Error("cut off"), { code: "RPC_ABORTED" })));
  expect(context.exitCode()).toBe(130);
  await context.run({}, () => Promise.reject(new Error("the teardown failed")));
  expect(context.exitCode()).toBe(4);
});
