#!/usr/bin/env node
import { constants } from "node:os";
import type { Interruption } from "./commands/_context.js";
import { DrumsError } from "./errors.js";
import { runProgram } from "./program.js";

const controller = new AbortController();

/** The first signal asks the command to stop and take down; another one only says that this is under way. */
function onSignal(signal: NodeJS.Signals): void {
  if (controller.signal.aborted) {
    process.stderr.write("drums: teardown is under way; what is left half done is for `drums gc`\n");
    return;
  }
  const cause: Interruption = { signal, number: constants.signals[signal] };
  process.stderr.write(`\ndrums: ${signal}: stopping and taking everything down\n`);
  controller.abort(new DrumsError({ code: "INTERRUPTED", what: `interrupted by ${signal}`, cause }));
}

process.on("SIGINT", onSignal);
process.on("SIGTERM", onSignal);

const { stdout, stderr, env } = process;
// A reader that goes away (`drums … | head`) is no fault; the exit status still tells how it went.
for (const stream of [stdout, stderr]) stream.on("error", () => {});
const status = await runProgram(process.argv.slice(2), { stdout, stderr, env, signal: controller.signal });
// Pipes are written asynchronously: end only when both have taken everything.
await Promise.all([stdout, stderr].map((stream) => new Promise((done) => stream.write("", done))));
process.exit(status);
