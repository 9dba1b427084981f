import { failureWindow, looksLikeFailurePage } from "../desktop/failure-page.js";
import type { DesktopFacts, WindowFacts } from "../x11/types.js";
import type { Picture } from "./picture.js";
import type { Check, Failure, Observation, WindowExpectation } from "./types.js";
import { applicationWindows, describeWindow, matchingWindows, unexpectedWindows } from "./windows.js";

// The questions that every desktop is asked. Those of one desktop stand in its profile, src/desktop.

export function failurePage({ frame, stats, facts }: Observation): Check {
  const window = facts && failureWindow(facts);
  // A program's own window may well be laid out so; without facts the layout has to do.
  const isExplained = facts !== undefined && applicationWindows(facts).length > 0;
  const isSeen = !isExplained && looksLikeFailurePage(frame, stats);
  return {
    name: "no failure page",
    ok: window === undefined && !isSeen,
    detail: window
      ? `gnome-session's failure page is mapped: ${describeWindow(window)}`
      : isSeen
        ? "the screen is laid out like a failure page: a centred sign over text on one flat colour, no panel"
        : "neither its window nor its layout is there",
    failure: {
      verdict: "failure-page",
      remedy:
        "read the session's log for the program that exited; the system bus, XDG_SESSION_TYPE=x11, Composite and Mesa's drivers are the usual ones missing",
    },
  };
}

export function monitor({ facts }: Observation, bare: Failure | undefined): Check {
  const count = facts?.monitors?.length;
  const verdict = bare?.verdict.startsWith("black") ? "black-no-monitor" : "no-monitor";
  return {
    name: "a monitor",
    ok: count === undefined ? "unknown" : count > 0,
    detail: count === undefined ? "not told" : `${count} RandR monitors`,
    failure: { verdict, remedy: "give the X server an output with a mode, or start Xvfb with RANDR" },
  };
}

export function windowManager({ facts }: Observation, bare: Failure | undefined): Check {
  const manager = facts?.windowManager;
  return {
    name: "a window manager",
    ok: facts === undefined ? "unknown" : manager !== undefined,
    detail:
      facts === undefined
        ? "not told"
        : manager
          ? (manager.name ?? "one without a name")
          : "none answers for _NET_SUPPORTING_WM_CHECK on the root",
    failure: bare ?? {
      verdict: "no-window-manager",
      remedy: "wait; when it stays so, look at the desktop's log: it did not start, or died",
    },
  };
}

/** `bare` is what a screen with nothing on it is to be called, undefined when there is something. */
export function somethingToSee({ detail }: Picture, bare: Failure | undefined): Check {
  return {
    name: "something to see",
    ok: bare === undefined,
    detail,
    failure: bare ?? { verdict: "black", remedy: "wait" },
  };
}

/**
 * A program's modal dialog keeps its windows from being used, unless the dialog itself is what is wanted: then no
 * other window meets the expectation, as a dialog has the class of the window that it belongs to.
 */
export function noModalDialog({ facts }: Observation, wanted: WindowExpectation | undefined): Check {
  const dialogs = facts ? applicationWindows(facts).filter(isModal) : [];
  const matching = facts && wanted ? matchingWindows(facts, wanted) : [];
  const isWanted = matching.length > 0 && matching.every(isModal);
  const dialog = dialogs.find(({ id }) => !isWanted || !matching.some((window) => window.id === id));
  return {
    name: "no modal dialog",
    ok: facts === undefined ? "unknown" : dialog === undefined,
    detail: dialog ? describeWindow(dialog) : facts === undefined ? "not told" : "none is open",
    failure: {
      verdict: "modal-dialog",
      remedy: "answer the dialog (Return or Escape), or start the program so that it does not ask",
    },
  };
}

const isModal = ({ states }: WindowFacts) => states.includes("_NET_WM_STATE_MODAL");

export function expectedWindow(
  { facts }: Observation,
  wanted: WindowExpectation,
  { areHidden }: { readonly areHidden: boolean },
): Check[] {
  const found = facts ? matchingWindows(facts, wanted) : [];
  const present: Check = {
    name: "the expected window",
    ok: facts === undefined ? "unknown" : found.length > 0,
    detail:
      facts === undefined
        ? "not told"
        : `${found.length} of ${applicationWindows(facts).length} windows match${found[0] ? `: ${describeWindow(found[0])}` : ""}`,
    failure: {
      verdict: "no-window",
      remedy: "wait for the program's window, or read its log: it did not start, or died",
    },
  };
  if (wanted.focused !== true) return [present];
  const isFocused = !areHidden && found.some((window) => window.focused);
  return [
    present,
    {
      name: "the expected window has the focus",
      ok: facts === undefined ? "unknown" : isFocused,
      detail: isFocused
        ? "it has the focus"
        : areHidden
          ? "the desktop shows its windows as pictures: keys do not go to them"
          : `the active window is ${active(facts)}`,
      failure: {
        verdict: "window-not-focused",
        remedy: "leave the Overview (GNOME), close a modal dialog, or activate the window",
      },
    },
  ];
}

/** Names what else is on the screen; refuses it only where nothing else is allowed. */
export function otherWindows(
  { facts }: Observation,
  wanted: WindowExpectation,
  options: { readonly allowed: boolean },
): Check {
  const others = facts ? unexpectedWindows(facts, wanted) : [];
  const named = others.map(describeWindow).join("; ");
  return {
    name: "other windows",
    ok: facts === undefined ? "unknown" : options.allowed || others.length === 0,
    detail: facts === undefined ? "not told" : named === "" ? "none" : named,
    failure: {
      verdict: "unexpected-window",
      remedy: "close it, or start the program that opened it differently",
    },
  };
}

export function stillness({ changedFraction }: Observation, maxChange: number): Check {
  return {
    name: "two frames agree",
    ok: changedFraction === undefined ? "unknown" : changedFraction <= maxChange,
    detail:
      changedFraction === undefined
        ? "only one frame"
        : `${(changedFraction * 100).toFixed(2)} % of the pixels changed`,
    failure: { verdict: "still-changing", remedy: "wait until the screen has settled" },
  };
}

function active(facts: DesktopFacts | undefined): string {
  return facts?.activeWindow === undefined ? "none" : `0x${facts.activeWindow.toString(16)}`;
}
