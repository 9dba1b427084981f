import type { BusFacts } from "../bus/types.js";
import type { Frame } from "../pixels/frame.js";
import type { PixelStats } from "../pixels/stats.js";
import type { DesktopFacts } from "../x11/types.js";

/** All that a verdict can be called. Only `ready` is good. */
export type VerdictName =
  | "ready"
  | "no-screen"
  | "x-server-gone"
  | "x-server-mute"
  | "failure-page"
  | "no-monitor"
  | "no-window-manager"
  | "window-manager-starting"
  | "shell-starting"
  | "shell-gone"
  | "stalled-on-bus"
  | "black"
  | "black-early"
  | "black-no-monitor"
  | "black-with-ready-signals"
  | "one-colour"
  | "nothing-but-panel"
  | "too-plain"
  | "locked"
  | "modal-dialog"
  | "no-window"
  | "window-not-focused"
  | "unexpected-window"
  | "still-changing";

/** What a verdict is called when a check fails, and what to do then. */
export interface Failure {
  readonly verdict: VerdictName;
  readonly remedy: string;
}

/** One question of a rule and its answer. */
export interface Check {
  readonly name: string;
  /** `unknown`: what it asks about was not recorded. That alone never refuses, but is said. */
  readonly ok: boolean | "unknown";
  /** What was found, with its numbers. */
  readonly detail: string;
  /** What the verdict is called when this check is the first to fail, and what to do then. */
  readonly failure: Failure;
}

/** What is judged: the newest frame with its numbers, the one before it, what the X server and the bus said. */
export interface Observation {
  readonly frame: Frame;
  readonly stats: PixelStats;
  /** The fraction of pixels that changed since the frame before; absent when there is only one. */
  readonly changedFraction?: number;
  readonly facts?: DesktopFacts;
  /** Absent where nobody asked the session bus. */
  readonly bus?: BusFacts;
}

/** A rule: asks its checks, the likeliest cause of a bad screen first. */
export interface Rules {
  readonly name: string;
  checks(seen: Observation): readonly Check[];
}

/** A window that must be there. */
export interface WindowExpectation {
  /** Matched with WM_CLASS, both its names. */
  readonly class?: RegExp;
  readonly title?: RegExp;
  /**
   * The process that owns it must be one of these: live ids in the server's own pid namespace. On a live server its
   * own knowledge of the client counts (X-Resource), never what the client claims.
   */
  readonly pids?: readonly number[];
  /** Of the part that lies on the screen. Default 200. */
  readonly minWidth?: number;
  /** Of the part that lies on the screen. Default 100. */
  readonly minHeight?: number;
  /** It must also have the focus. Default false. */
  readonly focused?: boolean;
}
