import type { BusFacts } from "./bus/types.js";
import { ReadinessError } from "./errors.js";
import { frameDifference } from "./pixels/difference.js";
import type { Frame } from "./pixels/frame.js";
import { statsOf } from "./pixels/measured.js";
import type { PixelStats } from "./pixels/stats.js";
import { defaultRules } from "./rules/default.js";
import type { Check, Rules, VerdictName } from "./rules/types.js";
import type { DesktopFacts } from "./x11/types.js";

/** Whether a desktop is usable, and why. Plain data: it can be written to a record as it is. */
export interface Verdict {
  readonly name: VerdictName;
  readonly ready: boolean;
  /** What failed, each in one sentence; of a ready desktop what was found. */
  readonly reasons: readonly string[];
  /** What to do about the first reason. Present when not ready. */
  readonly remedy?: string;
  /** The rule's name. */
  readonly rules: string;
  /** Where the window facts came from; `none`: judged without them. */
  readonly facts: "x11" | "text" | "none";
  /** Whether the session bus was asked. */
  readonly bus: boolean;
  readonly checks: readonly Check[];
  readonly measured?: PixelStats & { readonly changedFraction?: number };
}

export interface JudgeInput {
  /** At least one; of more, the last two are compared. */
  readonly frames: readonly Frame[];
  /** Absent: judged by pixels alone, and the verdict says so. */
  readonly facts?: DesktopFacts;
  /** What GNOME said of itself on the session bus. Absent: judged without it. */
  readonly bus?: BusFacts;
  /** Default: {@link defaultRules}. */
  readonly rules?: Rules;
}

/**
 * Judges a desktop by its pixels and by what its X server and its session bus say. What is counted on a frame is kept
 * with it: its pixels must not change afterwards. Throws BAD_FRAME for no frame.
 */
export function judge({ frames, facts, bus, rules = defaultRules() }: JudgeInput): Verdict {
  const frame = frames.at(-1);
  if (frame === undefined)
    throw new ReadinessError("BAD_FRAME", "there is no frame to judge", { hint: "give at least one frame" });
  const before = frames.at(-2);
  const stats = statsOf(frame);
  const change = before && { changedFraction: frameDifference(before, frame) };
  const checks = rules.checks({ frame, stats, ...change, ...(facts && { facts }), ...(bus && { bus }) });
  const failed = checks.filter(({ ok }) => ok === false);
  const source = facts?.source ?? "none";
  return {
    name: failed[0]?.failure.verdict ?? "ready",
    ready: failed.length === 0,
    reasons: [
      ...(failed.length > 0 ? failed : checks.filter(({ ok }) => ok === true)).map(sentence),
      ...(source === "none" ? ["facts: none, judged by pixels alone"] : []),
    ],
    ...(failed[0] && { remedy: failed[0].failure.remedy }),
    rules: rules.name,
    facts: source,
    bus: bus !== undefined,
    checks,
    measured: { ...stats, ...change },
  };
}

/** The verdict on a desktop that could not be looked at. */
export function lostVerdict(
  name: "no-screen" | "x-server-gone" | "x-server-mute",
  { reason, remedy, rules }: { reason: string; remedy: string; rules: string },
): Verdict {
  return { name, ready: false, reasons: [reason], remedy, rules, facts: "none", bus: false, checks: [] };
}

function sentence({ name, detail }: Check): string {
  return `${name}: ${detail}`;
}
