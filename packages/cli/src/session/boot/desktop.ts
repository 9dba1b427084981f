import type { InitClient } from "@drums/nsexec";
import { codeOf, DrumsError, EXIT } from "../../errors.js";
import type { DesktopProgram, DesktopRecipe } from "../../recipes/types.js";
import type { LiveSession } from "../open.js";
import { waitFor } from "../wait-for.js";
import { CONDITIONS } from "./conditions.js";
import { logPath, makeFolder, writeInside } from "./inside.js";

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
    for (const { path, content } of recipe.files) await writeInside(init, path, content);
    for (const program of recipe.programs) {
      for (const condition of program.startsAfter) {
        const { what, holds } = CONDITIONS[condition];
        const told = { what: `${what}, which ${program.name} needs`, timeoutMs, signal };
        await waitFor(() => holds(live, recipe), told);
      }
      await startProgram(live, init, await asImageWants(live, program), timeoutMs);
    }
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
