import { listPidNamespace } from "@drums/nsexec/proc";
import { applicationWindows, pressKey, typeText, type WindowFacts } from "@drums/readiness";
import { DrumsError, EXIT } from "../errors.js";
import type { ApplicationRecipe, DesktopRecipe } from "../recipes/types.js";
import { logPath, writeInside } from "../session/boot/inside.js";
import { awaitReady } from "../session/boot/ready.js";
import type { LiveSession } from "../session/open.js";
import { USER } from "../session/paths.js";
import { waitFor } from "../session/wait-for.js";
import { isDrawn } from "./drawn.js";
import { initOf } from "./facts.js";

/** A program draws its window in several goes; so long it must have stood still to be done. */
const SETTLE_MS = 400;

/**
 * Opens an application through the session's init and waits until its window is usable by the desktop's rules. One
 * that the desktop opened itself is only waited for. Gives the milliseconds that it took, null for the latter.
 * @throws DrumsError APPLICATION_NOT_READY with the verdict's reasons
 */
export async function openApplication(
  live: LiveSession,
  desktop: DesktopRecipe,
  application: ApplicationRecipe,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<{ openedMs: number | null }> {
  const { name, argv, files = [], window } = application;
  const began = performance.now();
  if (argv !== undefined) await start(live, { ...application, argv, files }, desktop);
  const options = { window, settleMs: SETTLE_MS, timeoutMs: 60_000, signal };
  const { verdict, elapsedMs } = await awaitReady(live, desktop, options);
  if (verdict.ready) return { openedMs: argv === undefined ? null : performance.now() - began };
  throw new DrumsError({
    code: "APPLICATION_NOT_READY",
    exitCode: EXIT.verdictFailed,
    what: `${name} is not usable: ${verdict.name}`,
    why: `${verdict.reasons.join("; ")} (after ${Math.round(elapsedMs)} ms)`,
    hint: `its log is ${logPath(name)} in the session; ${verdict.remedy ?? "look at its screen"}`,
  });
}

async function start(
  live: LiveSession,
  { name, argv, files }: Required<Pick<ApplicationRecipe, "name" | "argv" | "files">>,
  { env }: DesktopRecipe,
): Promise<void> {
  const { uid, gid, home: cwd } = USER;
  const log = logPath(name);
  await live.withInit(async (init) => {
    for (const { path, content } of files) await writeInside(init, path, content);
    await init.spawn({ argv: [...argv], env, uid, gid, cwd, stdout: log, stderr: log });
  });
}

/** The managed windows of an application's living processes, by the pids that the X server knows. */
export async function ownWindows(live: LiveSession, { process }: ApplicationRecipe): Promise<WindowFacts[]> {
  const [facts, processes] = await Promise.all([live.facts(), listPidNamespace(initOf(live).pid)]);
  const living = processes.filter(({ name }) => name === process).map(({ innerPid }) => innerPid);
  return applicationWindows(facts).filter(({ pid }) => pid !== undefined && living.includes(pid));
}

/** An application's main window. @throws DrumsError NO_APPLICATION_WINDOW */
export async function applicationWindow(
  live: LiveSession,
  application: ApplicationRecipe,
): Promise<WindowFacts> {
  const { name, window } = application;
  const found = (await ownWindows(live, application)).find((one) => one.class === window.class);
  if (found !== undefined) return found;
  throw new DrumsError({
    code: "NO_APPLICATION_WINDOW",
    exitCode: EXIT.verdictFailed,
    what: `there is no window of ${name} to type into`,
    why: `no window of class ${window.class} belongs to a living ${application.process}`,
    hint: "see facts.json of the evidence for the windows that there are",
  });
}

/**
 * Waits until a program takes keys: a window may have the keyboard before its program listens. A letter is typed and
 * taken back until it was seen to come and to go: what a program that starts draws by itself comes, but does not go.
 * Keys that are lost are lost together, so an empty text stays empty.
 */
export async function takesKeys(live: LiveSession, application: ApplicationRecipe): Promise<void> {
  const { id, geometry: within } = await applicationWindow(live, application);
  const seen = async () => {
    const before = await live.frame();
    const isThere = async () => isDrawn(before, await live.frame(), { within });
    await live.withX((x) => typeText(x, "x", { window: id }));
    const came = await comesTrue(isThere);
    await live.withX((x) => pressKey(x, "BackSpace"));
    return came && comesTrue(async () => !(await isThere()));
  };
  await waitFor(seen, { what: `a letter typed into ${application.name}`, timeoutMs: 30_000 });
}

/** Whether it holds within a second. */
async function comesTrue(holds: () => Promise<boolean>): Promise<boolean> {
  return waitFor(holds, { what: "a typed letter", timeoutMs: 1000 }).then(
    () => true,
    () => false,
  );
}
