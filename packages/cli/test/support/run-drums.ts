import { runProgram } from "../../src/program.js";
import { KeptOutput } from "./output.js";

/** What a run of the command line came to. */
export interface DrumsRun {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `drums ARGS` in this process, with an empty environment and its outputs kept. */
export async function runDrums(...argv: readonly string[]): Promise<DrumsRun> {
  const [stdout, stderr] = [new KeptOutput(), new KeptOutput()];
  const { signal } = new AbortController();
  const status = await runProgram(argv, { stdout, stderr, env: {}, signal });
  return { status, stdout: stdout.text, stderr: stderr.text };
}
