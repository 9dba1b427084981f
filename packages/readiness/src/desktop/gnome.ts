import { type BusFacts, isShellRunning } from "../bus/types.js";
import { stalledOn } from "../rules/bare.js";
import type { Check, Failure, Observation } from "../rules/types.js";
import { applicationWindows } from "../rules/windows.js";
import type { DesktopProfile } from "./types.js";

/**
 * GNOME Shell. Without a RandR monitor its screen stays black for ever while every process lives and the
 * log says that it started.
 */
export const gnome: DesktopProfile = {
  name: "gnome",
  paintsItself: true,
  matches: ({ windowManager }) => /^(gnome shell|mutter)/i.test(windowManager?.name ?? ""),
  lacksMonitor: ({ facts }) => facts?.source === "x11" && (facts.monitors?.length ?? 0) === 0,
  signals: (seen, bare) => [onTheBus(seen, bare)],
  checks: (seen, bare) => [
    randrMonitor(seen, bare),
    noShellDialog(seen, bare),
    shellRuns(seen, bare),
    notLocked(seen),
  ],
  hasPlainBackground,
  hidesWindows: ({ bus }) => bus?.overviewActive === true,
};

/** A Shell that has left the Overview for so long has drawn its background, be it one colour. In milliseconds. */
const PLAIN_AFTER_MS = 3_000;

/** An empty desktop of one colour under its panel, by the Shell's own word: it runs, and shows nothing else. */
function hasPlainBackground({ facts, bus }: Observation): boolean {
  if (facts === undefined || bus === undefined || applicationWindows(facts).length > 0) return false;
  const { overviewActive, runningForMs = PLAIN_AFTER_MS } = bus;
  return isShellRunning(bus) && overviewActive === false && runningForMs >= PLAIN_AFTER_MS;
}

function onTheBus(seen: Observation, bare: Failure | undefined): Check {
  const { bus } = seen;
  return {
    name: "org.gnome.Shell on the session bus",
    ok: bus === undefined ? "unknown" : bus.shellOwned,
    detail:
      bus === undefined
        ? "nobody asked the session bus"
        : bus.connected
          ? `the name ${bus.shellOwned ? "is owned" : "has no owner"}`
          : "the session bus answers no client",
    failure: shellGone(seen) ?? bare ?? STARTING,
  };
}

/** gnome-session counts its programs as started, and the Shell is none of those that live. */
function shellGone({ bus }: Observation): Failure | undefined {
  if (bus?.sessionRunning !== true || bus.shellOwned) return undefined;
  return {
    verdict: "shell-gone",
    remedy:
      "read the session's log for why the Shell ended: a home that cannot be written, a /tmp that is not 1777 and missing gschemas.compiled are the usual reasons",
  };
}

function randrMonitor({ facts }: Observation, bare: Failure | undefined): Check {
  const isAsked = facts !== undefined && facts.source !== "text";
  return {
    name: "GNOME has a RandR monitor",
    ok: isAsked ? (facts.monitors?.length ?? 0) > 0 : "unknown",
    detail: monitorDetail(facts?.monitors?.length, facts?.extensions),
    failure: {
      verdict: bare?.verdict.startsWith("black") ? "black-no-monitor" : "no-monitor",
      remedy: "start the X server with +extension RANDR; GNOME paints nothing without a monitor",
    },
  };
}

/** Its own word counts only together with the pixels: a Shell that draws into nowhere says so as well. */
function shellRuns(seen: Observation, bare: Failure | undefined): Check {
  const { bus } = seen;
  return {
    name: "the Shell runs by its own word",
    ok: bus === undefined ? "unknown" : isShellRunning(bus),
    detail: bus === undefined ? "nobody asked the session bus" : saidByShell(bus),
    failure: bare ?? stalledOn(seen) ?? STARTING,
  };
}

function notLocked({ bus }: Observation): Check {
  return {
    name: "the screen is not locked",
    ok: bus?.locked === undefined ? "unknown" : !bus.locked,
    detail: bus?.locked === undefined ? "not told" : bus.locked ? "the lock screen is shown" : "it is not",
    failure: {
      verdict: "locked",
      remedy:
        "set org.gnome.desktop.screensaver lock-enabled and org.gnome.desktop.session idle-delay to off",
    },
  };
}

/**
 * A dialog of the Shell's own has no window. The Shell then gives the keyboard to its stage, which no window of the
 * tree is; with nothing to type into it lies on a window without a class that mutter keeps for that.
 */
function noShellDialog({ facts, bus }: Observation, bare: Failure | undefined): Check {
  const isTold = facts?.source === "x11" && bus?.overviewActive !== undefined;
  const isWithWindow =
    facts === undefined || facts.windows.some(({ id, focused }) => focused || id === facts.inputFocus);
  const isHeld = isTold && !bus.overviewActive && facts.inputFocus !== undefined && !isWithWindow;
  return {
    name: "no dialog of the Shell's",
    ok: isTold ? !isHeld : "unknown",
    detail: isHeld
      ? "the Overview is left and the Shell itself has the keyboard"
      : isTold
        ? "the keyboard is not with the Shell, or the Overview is shown"
        : "not told",
    failure: bare ?? {
      verdict: "modal-dialog",
      remedy: "press Escape; a keyring or a polkit question is avoided by how the program is started",
    },
  };
}

const STARTING: Failure = {
  verdict: "shell-starting",
  remedy: "wait; when it stays so, read the Shell's log for what it waits for",
};

function saidByShell({ overviewActive, monitors, sessionRunning }: BusFacts): string {
  const said = (value: unknown) => (value === undefined ? "not answered" : String(value));
  const session = sessionRunning === undefined ? "no gnome-session" : `session running: ${sessionRunning}`;
  return `OverviewActive ${said(overviewActive)}, monitors ${said(monitors)}, ${session}`;
}

function monitorDetail(count: number | undefined, extensions: readonly string[] | undefined): string {
  if (count !== undefined) return `RandR has ${count} monitors`;
  if (extensions === undefined) return "nobody asked for monitors";
  return extensions.includes("RANDR") ? "RandR is older than 1.5" : "the server has no RandR";
}
