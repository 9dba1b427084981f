import type { Home } from "../../src/home.js";
import { runProgram } from "../../src/program.js";

/** Runs a command line with --json and gives its status and document. */
export async function drums(home: Home, ...argv: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const status = await runProgram([...argv.slice(0, 1), "--json", "--home", home.path, ...argv.slice(1)], {
    stdout: { write: (text: string) => out.push(text) > 0 },
    stderr: { write: (text: string) => err.push(text) > 0 },
    env: { PATH: process.env.PATH ?? "" },
    signal: new AbortController().signal,
  });
  return { status, document: JSON.parse(out.join("") || "null"), err: err.join("") };
}
