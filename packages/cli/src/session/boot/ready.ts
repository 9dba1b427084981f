import { findMuteNames } from "@drums/dbus-private";
import {
  type BusFacts,
  type Check,
  defaultRules,
  gnomeRules,
  isShellRunning,
  type Rules,
  type ShellWatch,
  type WaitResult,
  waitUntilReady,
  wakeOnAny,
  watchDamage,
  watchShell,
} from "@drums/readiness";
import type { DesktopRecipe, WindowRecipe } from "../../recipes/types.js";
import type { LiveSession } from "../open.js";
import { USER } from "../paths.js";

/** What is waited for beside what every desktop needs. */
export interface ReadyOptions {
  /** Default: the desktop's own, where its recipe names one. */
  readonly window?: WindowRecipe | undefined;
  /** GNOME's Overview is left as soon as its Shell runs, and the wait ends when it is. Default false. */
  readonly leaveOverview?: boolean;
  /** How long the screen must have been ready and unchanged; default 100. */
  readonly settleMs?: number;
  /** Default 30 000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits until the desktop is usable by its recipe's rules: pixels, window facts and, where there is a session bus, its
 * own word together. Woken by what is drawn and said; every connection is closed at the end, for none may be open at a
 * dump. Never throws for a desktop that is not usable: the verdict says why.
 */
export async function awaitReady(
  live: LiveSession,
  desktop: DesktopRecipe,
  options: ReadyOptions = {},
): Promise<WaitResult> {
  const { leaveOverview = false, settleMs, timeoutMs = 30_000, signal } = options;
  const shell = watchSession(live, desktop);
  try {
    return await live.withX(async (x) => {
      const damage = await watchDamage(x);
      return waitUntilReady({
        frame: live.frame,
        facts: live.facts,
        rules: rulesOf(desktop, options),
        timeoutMs,
        ...(settleMs !== undefined && { settleMs }),
        ...(shell && { bus: leaveOverview ? () => leaving(shell) : () => shell.facts() }),
        wake: wakeOnAny(damage, ...(shell ? [shell] : [])),
        ...(signal && { signal }),
      });
    });
  } finally {
    shell?.close();
  }
}

/** What a desktop says of itself on its session bus; undefined where its recipe asks for no such word. */
export async function lookAtShell(live: LiveSession, desktop: DesktopRecipe): Promise<BusFacts | undefined> {
  const shell = watchSession(live, desktop, { answerMs: 5000 });
  try {
    return await shell?.facts();
  } finally {
    shell?.close();
  }
}

/** The readiness rules of a desktop, with the window that is waited for. */
export function rulesOf(
  desktop: Pick<DesktopRecipe, "rules" | "window">,
  { window = desktop.window, leaveOverview = false }: Pick<ReadyOptions, "window" | "leaveOverview"> = {},
): Rules {
  const wanted = window === undefined ? {} : { window: { ...window, class: wholeWord(window.class) } };
  if (desktop.rules === "default") return defaultRules(wanted);
  return leaveOverview ? withoutOverview(gnomeRules(wanted)) : gnomeRules(wanted);
}

/** A class name as the pattern that matches it alone. */
export function wholeWord(text: string): RegExp {
  return new RegExp(`^${text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`);
}

function watchSession(
  live: LiveSession,
  { rules, sessionBus }: DesktopRecipe,
  { answerMs }: { readonly answerMs?: number } = {},
): ShellWatch | undefined {
  if (rules !== "gnome" || sessionBus === undefined) return undefined;
  return watchShell({
    ...(answerMs !== undefined && { answerMs }),
    connect: () => live.openSessionBus(sessionBus),
    muteNames: () => muteNames(live, sessionBus),
  });
}

/** On both buses. One that cannot be asked has no names: the desktop's own checks tell that it is not there. */
async function muteNames(live: LiveSession, sessionBus: string): Promise<readonly string[]> {
  const { idBase } = live.record.spec;
  const asRoot = idBase === undefined ? {} : { uid: idBase, gid: idBase };
  const found = await Promise.allSettled([
    findMuteNames(() => live.connectBus(asRoot), { uid: 0 }),
    findMuteNames(() => live.connectSessionBus(sessionBus), { uid: USER.uid }),
  ]);
  return found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
}

/** An order may be forgotten while the Shell starts, or not be answered in time: it is given at each look until it holds. */
async function leaving(shell: ShellWatch): Promise<BusFacts> {
  const facts = await shell.facts();
  if (!isShellRunning(facts) || facts.overviewActive !== true) return facts;
  await shell.setOverview(false).catch(() => {});
  return shell.facts();
}

function withoutOverview(rules: Rules): Rules {
  return { name: rules.name, checks: (seen) => [...rules.checks(seen), overviewLeft(seen.bus)] };
}

function overviewLeft(bus: BusFacts | undefined): Check {
  return {
    name: "the Overview is left",
    ok: bus?.overviewActive === undefined ? "unknown" : !bus.overviewActive,
    detail: bus?.overviewActive === true ? "it is shown" : "it is not shown",
    failure: {
      verdict: "window-not-focused",
      remedy: "press Escape, or set OverviewActive over the session bus",
    },
  };
}
