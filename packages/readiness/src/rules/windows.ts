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
  const { minWidth = 200, minHeight = 100 } = wanted;
  return applicationWindows(facts).filter(
    (window) =>
      isLargeEnough(window, minWidth, minHeight) &&
      isOnScreen(window, facts) &&
      matchesText(wanted.class, [window.instance, window.class]) &&
      matchesText(wanted.title, [window.title]) &&
      (wanted.pids === undefined || wanted.pids.includes(window.pid ?? window.claimedPid ?? -1)),
  );
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

function isLargeEnough({ geometry }: WindowFacts, width: number, height: number): boolean {
  return geometry === undefined || (geometry.width >= width && geometry.height >= height);
}

function isOnScreen({ geometry }: WindowFacts, { screen }: DesktopFacts): boolean {
  if (geometry === undefined || screen === undefined) return true;
  return (
    geometry.x < screen.width &&
    geometry.y < screen.height &&
    geometry.x + geometry.width > 0 &&
    geometry.y + geometry.height > 0
  );
}

function matchesText(pattern: RegExp | undefined, texts: readonly (string | undefined)[]): boolean {
  if (pattern === undefined) return true;
  return texts.some((text) => text !== undefined && text.search(pattern) >= 0);
}
