#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { abortOnSignals } from "./interrupt.js";
import { runProgram } from "./program.js";

const { stdout, stderr, env } = process;
// A reader that goes away (`drums … | head`) is no fault; the exit status still tells how it went.
for (const stream of [stdout, stderr]) stream.on("error", () => {});

const signal = abortOnSignals(process, stderr);
const status = await runProgram(process.argv.slice(2), {
  ...{ stdout, stderr, env, signal },
  script: fileURLToPath(import.meta.url),
});
// Pipes are written asynchronously: end only when both have taken everything.
await Promise.all([stdout, stderr].map((stream) => new Promise((done) => stream.write("", done))));
process.exit(status);
