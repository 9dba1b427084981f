import { failureWindow, looksLikeFailurePage } from "../desktop/failure-page.js";
import { gnome } from "../desktop/gnome.js";
import { openbox } from "../desktop/openbox.js";
import type { DesktopProfile } from "../desktop/types.js";
import { type Box, colourName } from "../pixels/frame.js";
import { type Content, countContent, findContent, isCursorSized } from "../pixels/regions.js";
import type { DesktopFacts } from "../x11/types.js";
import type { Check, Observation, Rules, VerdictName, WindowExpectation } from "./types.js";
import { applicationWindows, describeWindow, matchingWindows } from "./windows.js";

export interface DefaultRulesOptions {
  /** A window that must be on the screen, as that of a program under test. Default: none is asked for. */
  readonly window?: WindowExpectation;
  /** The largest fraction of pixels that may change between two frames. Default 0.005: a clock, a caret. */
  readonly maxChange?: number;
  /** Desktops that are known by name. Default: openbox and GNOME. */
  readonly desktops?: readonly DesktopProfile[];
}

/** Content away from the edges and not a cursor covers at least this share of a usable screen. */
const MIN_CONTENT = 0.01;
/** So many pixels of a window, away from the pointer, are something that it drew. */
const MIN_WINDOW_PIXELS = 8;
/** A cursor drawn at the pointer lies within this many pixels of its hot spot. */
const CURSOR_REACH = 64;

/**
 * The rule of this package. What is on the screen decides (a dark desktop is fine, a bright failure page is
 * not), together with what the X server says; a check that has no facts answers `unknown`.
 */
export function defaultRules(options: DefaultRulesOptions = {}): Rules {
  const { window, maxChange = 0.005, desktops = [openbox, gnome] } = options;
  return {
    name: "default",
    checks(seen) {
      const { facts } = seen;
      const desktop = facts && desktops.find((profile) => profile.matches(facts));
      return [
        failurePage(seen),
        monitor(facts),
        windowManager(facts),
        ...(facts && desktop ? desktop.checks(facts) : []),
        somethingToSee(seen, desktop),
        ...(window ? expectedWindow(facts, window) : []),
        stillness(seen, maxChange),
      ];
    },
  };
}

function failurePage({ frame, stats, facts }: Observation): Check {
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

function monitor(facts: DesktopFacts | undefined): Check {
  const count = facts?.monitors?.length;
  return {
    name: "a monitor",
    ok: count === undefined ? "unknown" : count > 0,
    detail: count === undefined ? "not told" : `${count} RandR monitors`,
    failure: {
      verdict: "no-monitor",
      remedy: "give the X server an output with a mode, or start Xvfb with RANDR",
    },
  };
}

function windowManager(facts: DesktopFacts | undefined): Check {
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
    failure: {
      verdict: "no-window-manager",
      remedy: "wait; when it stays so, look at the desktop's log: it did not start, or died",
    },
  };
}

/** The pixels: is there more than a cursor and a panel on one colour? */
function somethingToSee(seen: Observation, desktop: DesktopProfile | undefined): Check {
  const { frame, stats } = seen;
  const content = findContent(frame, stats.dominant);
  const shown = contentShare(content, seen);
  const percent = (stats.dominantFraction * 100).toFixed(1);
  const measured = `${stats.colours} colours, ${percent} % ${colourName(stats.dominant)}, ${(shown * 100).toFixed(1)} % covered by more than panel and cursor`;
  const isShown = shown >= MIN_CONTENT || windowPixels(seen) >= MIN_WINDOW_PIXELS;
  return {
    name: "something to see",
    ok: isShown,
    detail: measured,
    failure: bareScreen(seen, content, desktop),
  };
}

/** The share of the screen under the boxes of all regions but one that can be the cursor. */
function contentShare({ regions }: Content, { frame, facts }: Observation): number {
  const pointer = facts?.pointer;
  const cursor = regions.find(
    (region) => isCursorSized(region) && (pointer === undefined || isAt(region, pointer)),
  );
  const covered = regions
    .filter((region) => region !== cursor)
    .reduce((sum, region) => sum + region.width * region.height, 0);
  return covered / (frame.width * frame.height);
}

/** What program windows show away from the pointer: a black terminal with one prompt is a working desktop. */
function windowPixels({ frame, stats, facts }: Observation): number {
  if (facts?.pointer === undefined) return 0;
  const { x, y } = facts.pointer;
  const cursor = {
    x: x - CURSOR_REACH,
    y: y - CURSOR_REACH,
    width: 2 * CURSOR_REACH,
    height: 2 * CURSOR_REACH,
  };
  return applicationWindows(facts).reduce(
    (sum, { geometry }) => sum + (geometry ? countContent(frame, stats.dominant, geometry, [cursor]) : 0),
    0,
  );
}

function isAt(region: Box, { x, y }: { x: number; y: number }): boolean {
  return (
    Math.abs(region.x + region.width / 2 - x) <= CURSOR_REACH &&
    Math.abs(region.y + region.height / 2 - y) <= CURSOR_REACH
  );
}

/** What to call a screen with nothing on it: by the likeliest cause. */
function bareScreen(
  { stats, facts }: Observation,
  { edgePixels }: Content,
  desktop: DesktopProfile | undefined,
): { verdict: VerdictName; remedy: string } {
  const isDark =
    ((stats.dominant >>> 16) & 0xff) <= 16 &&
    ((stats.dominant >>> 8) & 0xff) <= 16 &&
    (stats.dominant & 0xff) <= 16;
  if (facts && desktop && !desktop.paintsItself && applicationWindows(facts).length === 0)
    return { verdict: "no-window", remedy: `start a program: ${desktop.name} itself paints nothing` };
  if (edgePixels > 0)
    return {
      verdict: "nothing-but-panel",
      remedy: "wait: the desktop paints its panel first; when it stays so, look at the shell's log",
    };
  if (!isDark)
    return {
      verdict: "one-colour",
      remedy: "wait; when it stays so, look whether the desktop started at all",
    };
  return {
    verdict: "black",
    remedy: facts?.windowManager
      ? "wait up to 30 s; then: a monitor in RandR, a bus name that is owned but mute, and one IPC namespace for the X server and its clients (MIT-SHM) are what keeps a living desktop black"
      : "wait; when it stays so, read the desktop's log: a writable home, XDG_RUNTIME_DIR and a mode 1777 /tmp are the usual ones missing",
  };
}

function expectedWindow(facts: DesktopFacts | undefined, wanted: WindowExpectation): Check[] {
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
  const isFocused = found.some((window) => window.focused);
  return [
    present,
    {
      name: "the expected window has the focus",
      ok: facts === undefined ? "unknown" : isFocused,
      detail: isFocused ? "it has the focus" : `the active window is ${active(facts)}`,
      failure: {
        verdict: "window-not-focused",
        remedy: "leave the Overview (GNOME), close a modal dialog, or activate the window",
      },
    },
  ];
}

function active(facts: DesktopFacts | undefined): string {
  return facts?.activeWindow === undefined ? "none" : `0x${facts.activeWindow.toString(16)}`;
}

function stillness({ changedFraction }: Observation, maxChange: number): Check {
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
