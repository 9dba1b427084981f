import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { SessionPlanOptions } from "../../src/index.js";

const ATTEMPT = fileURLToPath(new URL("attempt.mjs", import.meta.url));

/** What a launch said, run where the machine is changed for it alone. */
export type Said = Readonly<Record<string, unknown>>;

/**
 * Changes the surroundings in a mount namespace of their own by shell lines, and launches a session from
 * there. The lines end where `"$@"` is: the launch itself.
 */
export async function launchAmong(lines: string, options: SessionPlanOptions): Promise<Said> {
  const attempt = [process.execPath, ATTEMPT, JSON.stringify(options)];
  const args = ["--mount", "--propagation", "private", "bash", "-ec", lines, "bash", ...attempt];
  const { stdout } = await promisify(execFile)("unshare", args);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}
