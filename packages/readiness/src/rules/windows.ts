import type { DesktopFacts, WindowFacts } from "../x11/types.js";
import type { WindowExpectation } from "./types.js";

const NOT_AN_APPLICATION = ["_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_DESKTOP"];

/** Windows of programs: known to the window manager, no panel or desktop, not hidden or unmapped. */
export function applicationWindows(facts: DesktopFacts): WindowFacts[] {
  return facts.windows.filter(
    (window) =>
      window.managed &&
      window.mapped !== false &&
      !window.states.includes("_NET_WM_STATE_HIDDEN") &&
      !window.types.some((type) => NOT_AN_APPLICATION.includes(type)),
  );
}

/**
 * The windows that meet an expectation, all but its focus. A size or class that a capture did not record
 * does not exclude a window; on a live server everything is recorded.
 */
export function matchingWindows(facts: DesktopFacts, wanted: WindowExpectation): WindowFacts[] {
  return applicationWindows(facts).filter((window) => matches(window, facts, wanted));
}

/**
 * What else lies on the screen: program windows that do not meet the expectation, and large windows that no window
 * manager knows. Menus, tips and the like are too small to count.
 */
export function unexpectedWindows(facts: DesktopFacts, wanted: WindowExpectation): WindowFacts[] {
  const others = facts.windows.filter(
    (window) =>
      !window.managed &&
      window.mapped === true &&
      window.overrideRedirect === true &&
      window.class !== undefined && // a desktop's own helper windows have none
      visiblePart(window, facts, MIN_UNMANAGED),
  );
  return [...applicationWindows(facts).filter((window) => !matches(window, facts, wanted)), ...others];
}

const MIN_UNMANAGED = { width: 400, height: 300 };

function matches(window: WindowFacts, facts: DesktopFacts, wanted: WindowExpectation): boolean {
  const { minWidth: width = 200, minHeight: height = 100, pids } = wanted;
  return (
    visiblePart(window, facts, { width, height }) &&
    matchesText(wanted.class, [window.instance, window.class]) &&
    matchesText(wanted.title, [window.title]) &&
    (pids === undefined || pids.includes(ownerOf(window, facts) ?? -1))
  );
}

/** A text capture has no more than the client's own claim. */
function ownerOf({ pid, claimedPid }: WindowFacts, { source }: DesktopFacts): number | undefined {
  return source === "text" ? (pid ?? claimedPid) : pid;
}

/** A window in one line: what a person looks for in a log. */
export function describeWindow(window: WindowFacts): string {
  const { geometry, title, class: className, pid, claimedPid } = window;
  const parts = [
    `0x${window.id.toString(16)}`,
    className ?? "no class",
    title === undefined ? "no title" : JSON.stringify(title),
    geometry && `${geometry.width}x${geometry.height}+${geometry.x}+${geometry.y}`,
    pid !== undefined ? `pid ${pid}` : claimedPid !== undefined && `claims pid ${claimedPid}`,
  ];
  return parts.filter(Boolean).join(" ");
}

/** True when the part on the screen is at least so large. */
function visiblePart(
  { geometry }: WindowFacts,
  { screen }: DesktopFacts,
  least: { readonly width: number; readonly height: number },
): boolean {
  if (geometry === undefined) return true;
  const { width = Number.POSITIVE_INFINITY, height = Number.POSITIVE_INFINITY } = screen ?? {};
  const shown = (at: number, length: number, limit: number) =>
    Math.min(at + length, limit) - (screen ? Math.max(at, 0) : at);
  return (
    shown(geometry.x, geometry.width, width) >= least.width &&
    shown(geometry.y, geometry.height, height) >= least.height
  );
}

function matchesText(pattern: RegExp | undefined, texts: readonly (string | undefined)[]): boolean {
  if (pattern === undefined) return true;
  return texts.some((text) => text !== undefined && text.search(pattern) >= 0);
}
