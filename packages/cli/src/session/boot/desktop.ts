import { setTimeout as sleep } from "node:timers/promises";
import type { InitClient } from "@drums/nsexec";
import { type Rules, type WaitResult, waitUntilReady, watchDamage } from "@drums/readiness";
import { codeOf, DrumsError, EXIT } from "../../errors.js";
import type { DesktopProgram, DesktopRecipe, StartCondition } from "../../recipes/types.js";
import type { LiveSession } from "../open.js";
import { waitFor } from "../wait-for.js";
import { CONDITIONS } from "./conditions.js";
import { logPath, makeFolder } from "./inside.js";

/** So long an effect must last to count. */
const STAYS_MS = 60;

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
      for (const condition of program.startsAfter) {
        const { what, holds } = CONDITIONS[condition];
        const told = { what: `${what}, which ${program.name} needs`, timeoutMs, signal };
        await waitFor(() => holds(live, recipe), told);
      }
      const suited = await asImageWants(live, program);
      const start = () => startProgram(live, init, suited, timeoutMs);
      await (program.until === undefined
        ? start()
        : startUntil(live, recipe, { start, until: program.until, signal }));
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

/** Runs a program again until its effect is there and is still there a moment later. */
async function startUntil(
  live: LiveSession,
  recipe: DesktopRecipe,
  {
    start,
    until,
    signal,
  }: { start: () => Promise<void>; until: StartCondition; signal: AbortSignal | undefined },
): Promise<void> {
  const { what, holds } = CONDITIONS[until];
  const body = async () => {
    await start();
    if (!(await holds(live, recipe))) return false;
    await sleep(STAYS_MS);
    return holds(live, recipe);
  };
  await waitFor(body, { what, timeoutMs: 10_000, signal });
}

/** The call that suits the image: that of the first variant whose file it has. */
async function asImageWants(live: LiveSession, program: DesktopProgram): Promise<DesktopProgram> {
  for (const { whereFile, argv, env } of program.variants ?? [])
    if (await isThere(live, whereFile)) return { ...program, argv, env: { ...program.env, ...env } };
  return program;
}

async function isThere(live: LiveSession, path: string): Promise<boolean> {
  try {
    await live.root.stat(path, { follow: true });
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
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
