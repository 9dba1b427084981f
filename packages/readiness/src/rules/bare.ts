import { isShellRunning } from "../bus/types.js";
import type { DesktopProfile } from "../desktop/types.js";
import type { Picture } from "./picture.js";
import type { Failure, Observation } from "./types.js";
import { applicationWindows } from "./windows.js";

/**
 * A Shell that says that it runs shows its stage from an idle callback, seconds later on a loaded machine: only when
 * it has been running for so long is a black screen its last word. In milliseconds.
 */
const STAGE_GRACE_MS = 8_000;
/**
 * A service that starts on a busy machine may leave questions unanswered for seconds; a call to a mute one stands
 * still for 25. In milliseconds.
 */
const STALL_MS = 5_000;

/** What to call a screen with nothing on it: by the likeliest cause. */
export function bareScreen(
  seen: Observation,
  { kind }: Picture,
  desktop: DesktopProfile | undefined,
): Failure {
  const { facts } = seen;
  if (facts && desktop && !desktop.paintsItself && applicationWindows(facts).length === 0)
    return { verdict: "no-window", remedy: `start a program: ${desktop.name} itself paints nothing` };
  if (kind === "black") return blackScreen(seen, desktop);
  return stalledOn(seen) ?? (kind === "panel" ? ONLY_PANEL : ONE_COLOUR);
}

const ONLY_PANEL: Failure = {
  verdict: "nothing-but-panel",
  remedy: "wait: the desktop paints its panel first; when it stays so, look at the shell's log",
};
const ONE_COLOUR: Failure = {
  verdict: "one-colour",
  remedy: "wait; when it stays so, look whether the desktop started at all",
};

/** The names of a black screen, told apart by the signals: pixels alone look the same. */
function blackScreen(seen: Observation, desktop: DesktopProfile | undefined): Failure {
  if (desktop?.lacksMonitor?.(seen) === true)
    return {
      verdict: "black-no-monitor",
      remedy:
        "start the X server with +extension RANDR and an output; the desktop paints nothing without a monitor",
    };
  if (seen.bus === undefined) return { verdict: "black", remedy: blackRemedy(seen) };
  const stalled = stalledOn(seen);
  if (stalled !== undefined) return stalled;
  const { runningForMs = STAGE_GRACE_MS } = seen.bus;
  if (!isShellRunning(seen.bus) || runningForMs < STAGE_GRACE_MS)
    return {
      verdict: "black-early",
      remedy: "wait: the shell is still starting; when it stays so, read its log for what it waits for",
    };
  return {
    verdict: "black-with-ready-signals",
    remedy:
      "give the X server and its clients one IPC namespace, or start the server with -extension MIT-SHM: the shell says that it draws, into memory that the server does not show",
  };
}

/** The failure when a name that has been mute for a while keeps the shell from starting. */
export function stalledOn({ bus }: Observation): Failure | undefined {
  const mute = (bus?.mute ?? []).filter(({ forMs }) => forMs >= STALL_MS).map(({ name }) => name);
  if (mute.length === 0) return undefined;
  return {
    verdict: "stalled-on-bus",
    remedy: `end the owner of ${mute.join(", ")}, or let it answer: each call to a name that is owned but mute stands still for 25 s, where an absent name fails at once`,
  };
}

function blackRemedy({ facts }: Observation): string {
  return facts?.windowManager
    ? "wait up to 30 s; then: a monitor in RandR, a bus name that is owned but mute, and one IPC namespace for the X server and its clients (MIT-SHM) are what keeps a living desktop black"
    : "wait; when it stays so, read the desktop's log: a writable home, XDG_RUNTIME_DIR and a mode 1777 /tmp are the usual ones missing";
}
