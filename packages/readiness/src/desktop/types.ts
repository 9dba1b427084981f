import type { Check, Failure, Observation } from "../rules/types.js";
import type { DesktopFacts } from "../x11/types.js";

/** What one kind of desktop needs beyond what all do. */
export interface DesktopProfile {
  readonly name: string;
  /** True when the facts show that this desktop runs. */
  matches(facts: DesktopFacts): boolean;
  /** Its own checks; `bare` is what a screen with nothing on it is to be called, undefined when there is something. */
  checks(seen: Observation, bare: Failure | undefined): readonly Check[];
  /** Signals that come up before its window manager's. Default: none. */
  signals?(seen: Observation, bare: Failure | undefined): readonly Check[];
  /** True where it is known that it has no monitor, without which it paints nothing. */
  lacksMonitor?(seen: Observation): boolean;
  /** True where a panel on one colour is all that it has to show, by its own word. */
  hasPlainBackground?(seen: Observation): boolean;
  /** True where its windows are not in use, whatever they say of their focus: keys go to the desktop itself. */
  hidesWindows?(seen: Observation): boolean;
  /** It draws something of its own (panel, wallpaper) without any window open. */
  readonly paintsItself: boolean;
}
