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
    shellRuns(seen, bare),
    notLocked(seen),
    noShellDialog(seen),
  ],
};

function onTheBus({ bus }: Observation, bare: Failure | undefined): Check {
  return {
    name: "org.gnome.Shell on the session bus",
    ok: bus === undefined ? "unknown" : bus.shellOwned,
    detail:
      bus === undefined
        ? "nobody asked the session bus"
        : bus.connected
          ? `the name ${bus.shellOwned ? "is owned" : "has no owner"}`
          : "the session bus answers no client",
    failure: bare ?? STARTING,
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

/** A dialog of the Shell's own has no window: it takes the keyboard from all that have one. */
function noShellDialog({ facts, bus }: Observation): Check {
  const isTold = facts !== undefined && bus?.overviewActive !== undefined;
  const windows = facts ? applicationWindows(facts) : [];
  const isHeld =
    isTold && bus.overviewActive === false && windows.length > 0 && !windows.some(({ focused }) => focused);
  return {
    name: "no dialog of the Shell's",
    ok: isTold ? !isHeld : "unknown",
    detail: isHeld
      ? `the Overview is left and none of ${windows.length} windows has the keyboard`
      : isTold
        ? "the keyboard is with a window, or there is none, or the Overview is shown"
        : "not told",
    failure: {
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
