import { type Box, colourName } from "../pixels/frame.js";
import { contentOf } from "../pixels/measured.js";
import { type Content, countContent, isCursorSized } from "../pixels/regions.js";
import type { Observation } from "./types.js";
import { applicationWindows } from "./windows.js";

/** What the pixels show, in the words of a rule. */
export interface Picture {
  /**
   * `shown`: more than a cursor and a panel on one colour. `black`, `one-colour`: no more than a cursor;
   * `panel`: no more than strips along the edges on one colour.
   */
  readonly kind: "shown" | "black" | "one-colour" | "panel";
  /** With its numbers. */
  readonly detail: string;
}

/** Content away from the edges and not a cursor covers at least this share of a usable screen. */
const MIN_CONTENT = 0.01;
/** So many pixels of a window, away from the pointer, are something that it drew. */
const MIN_WINDOW_PIXELS = 8;
/** A cursor drawn at the pointer lies within this many pixels of its hot spot. */
const CURSOR_REACH = 64;
/** A channel up to this is black to a person. */
const DARK = 16;

/** Is there more than a cursor and a panel on one colour? */
export function lookAt(seen: Observation): Picture {
  const { frame, stats } = seen;
  const content = contentOf(frame);
  const shown = contentShare(content, seen);
  const percent = (stats.dominantFraction * 100).toFixed(1);
  const detail = `${stats.colours} colours, ${percent} % ${colourName(stats.dominant)}, ${(shown * 100).toFixed(1)} % covered by more than panel and cursor`;
  if (shown >= MIN_CONTENT || windowPixels(seen) >= MIN_WINDOW_PIXELS) return { kind: "shown", detail };
  if (content.edgePixels > 0) return { kind: "panel", detail };
  return { kind: isDark(stats.dominant) ? "black" : "one-colour", detail };
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

function isDark(colour: number): boolean {
  return [16, 8, 0].every((shift) => ((colour >>> shift) & 0xff) <= DARK);
}
