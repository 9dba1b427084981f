import type { InitClient } from "@drums/nsexec";
import { type Rules, type WaitResult, waitUntilReady, watchDamage } from "@drums/readiness";
import { DrumsError, EXIT } from "../../errors.js";
import type { DesktopProgram, DesktopRecipe } from "../../recipes/types.js";
import type { LiveSession } from "../open.js";
import { waitFor } from "../wait-for.js";
import { logPath, makeFolder } from "./inside.js";

/** What a start may be told. */
export interface StartOptions {
  /** For the display's socket and the window manager's first sign; default 20 000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Starts a desktop's programs in the recipe's order, each when what it needs is there, each with a log of its own. */
export async function startDesktop(
  live: LiveSession,
  recipe: DesktopRecipe,
  { timeoutMs = 20_000, signal }: StartOptions = {},
): Promise<void> {
  await live.withInit(async (init) => {
    for (const folder of recipe.folders) await makeFolder(init, folder);
    for (const program of recipe.programs) {
      await conditionHolds(live, program, { timeoutMs, signal });
      await startProgram(live, init, program, timeoutMs);
    }
  });
}

/**
 * Waits until the desktop is usable by its recipe's rules: pixels and window facts together.
 * Never throws for a desktop that is not: the verdict says why. @param options.timeoutMs default 30 000
 */
export async function awaitReady(
  live: LiveSession,
  rules: Rules,
  { timeoutMs = 30_000, signal }: StartOptions = {},
): Promise<WaitResult> {
  return live.withX(async (x) => {
    const damage = await watchDamage(x);
    return waitUntilReady({
      frame: live.frame,
      facts: live.facts,
      rules,
      timeoutMs,
      wake: (ms) => damage.changed(ms),
      ...(signal && { signal }),
    });
  });
}

async function startProgram(
  live: LiveSession,
  init: InitClient,
  program: DesktopProgram,
  timeoutMs: number,
): Promise<void> {
  const { name, argv, env, uid, gid, cwd, runs } = program;
  const log = logPath(name);
  const { pid } = await init.spawn({ argv, env, uid, gid, cwd, stdout: log, stderr: log });
  if (runs === "stays") return;
  const status = await init.wait(pid, { timeoutMs });
  if (status.code !== 0) throw await programFailed(live, program, status);
}

async function conditionHolds(
  live: LiveSession,
  program: DesktopProgram,
  options: StartOptions,
): Promise<void> {
  const { startsAfter, name } = program;
  if (startsAfter === "nothing") return;
  const holds = startsAfter === "display" ? displayAnswers : windowManagerIsDone;
  const what = startsAfter === "display" ? "the X server" : "the window manager";
  await waitFor(() => holds(live), { what: `${what}, which ${name} needs`, ...options });
}

async function displayAnswers(live: LiveSession): Promise<boolean> {
  await live.withX(async () => undefined);
  return true;
}

async function windowManagerIsDone(live: LiveSession): Promise<boolean> {
  const { windowManager, openboxTheme } = await live.facts();
  return windowManager !== undefined && (windowManager.name !== "Openbox" || openboxTheme !== undefined);
}

async function programFailed(
  live: LiveSession,
  { name, argv }: DesktopProgram,
  status: { readonly code?: number; readonly signal?: string },
): Promise<DrumsError> {
  const log = await live.root
    .readFile(logPath(name), { maxBytes: 65536 })
    .catch(() => Buffer.from("(no log)"));
  return new DrumsError({
    code: "DESKTOP_PROGRAM",
    exitCode: EXIT.verdictFailed,
    what: `${name} of the desktop ended with ${status.signal ?? `status ${status.code}`}`,
    where: argv.join(" "),
    why: log.toString().trimEnd().split("\n").slice(-3).join(" | "),
    hint: `its whole log is ${logPath(name)} in the session`,
  });
}
