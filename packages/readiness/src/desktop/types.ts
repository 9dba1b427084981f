import type { Check } from "../rules/types.js";
import type { DesktopFacts } from "../x11/types.js";

/** What one kind of desktop needs beyond what all do. */
export interface DesktopProfile {
  readonly name: string;
  /** True when the facts show that this desktop runs. */
  matches(facts: DesktopFacts): boolean;
  /** Its own checks on the facts. */
  checks(facts: DesktopFacts): readonly Check[];
  /** It draws something of its own (panel, wallpaper) without any window open. */
  readonly paintsItself: boolean;
}
