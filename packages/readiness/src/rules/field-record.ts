import type { DesktopFacts } from "../x11/types.js";
import type { Check, Observation, Rules, VerdictName } from "./types.js";
import { matchingWindows } from "./windows.js";

const MIN_COLOURS = 50;
const MIN_LIT = 0.05;
const MAX_DOMINANT = 0.9;
const MIN_TEXTURED = 0.25;
/** The record asks for "two consecutive frames agree" without a number; its pre-dump bound is 5 %. */
const MAX_CHANGE = 0.05;

/**
 * The rule that the field record ended with, number by number: 50 colours, 5 % lit, no colour over 90 %,
 * two frames agree, 25 % of a 16x10 grid textured, a window manager on the root, a mapped window of 200x100.
 * Kept to be compared with, not to be used: it refuses an honest desktop that is mostly one dark colour.
 */
export function fieldRecordRules(): Rules {
  return { name: "field-record", checks };
}

function checks({ stats, changedFraction, facts }: Observation): Check[] {
  const windows = facts && matchingWindows(facts, { minWidth: 200, minHeight: 100 });
  return [
    check("50 colours", stats.colours >= MIN_COLOURS, `${stats.colours} colours`, "too-plain"),
    check("5 % lit", stats.litFraction >= MIN_LIT, `${percent(stats.litFraction)} lit`, "black"),
    check(
      "no colour over 90 %",
      stats.dominantFraction <= MAX_DOMINANT,
      `${percent(stats.dominantFraction)} of one colour`,
      "too-plain",
    ),
    check(
      "25 % of the grid textured",
      stats.texturedFraction >= MIN_TEXTURED,
      `${percent(stats.texturedFraction)} textured`,
      "too-plain",
    ),
    check(
      "a window manager",
      facts ? facts.windowManager !== undefined : "unknown",
      managerDetail(facts),
      "no-window-manager",
    ),
    check(
      "a mapped window of 200x100",
      windows ? windows.length > 0 : "unknown",
      windows ? `${windows.length} such windows` : "not told",
      "no-window",
    ),
    check(
      "two frames agree",
      changedFraction === undefined ? "unknown" : changedFraction <= MAX_CHANGE,
      changedFraction === undefined ? "only one frame" : `${percent(changedFraction)} changed`,
      "still-changing",
    ),
  ];
}

function managerDetail(facts: DesktopFacts | undefined): string {
  if (facts === undefined) return "not told";
  return facts.windowManager ? (facts.windowManager.name ?? "one without a name") : "none";
}

function check(name: string, ok: Check["ok"], detail: string, verdict: VerdictName): Check {
  return {
    name,
    ok,
    detail,
    failure: { verdict, remedy: "see what the default rule says: it names the cause" },
  };
}

function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(1)} %`;
}
