import { type Box, type Frame, RGB, words } from "../pixels/frame.js";
import { contentOf } from "../pixels/measured.js";
import { boundingBox, contains, eachContentPixel, isCursorSized } from "../pixels/regions.js";
import type { PixelStats } from "../pixels/stats.js";
import type { DesktopFacts, WindowFacts } from "../x11/types.js";

// GNOME's failure page ("Oh no! Something has gone wrong") is bright, still and full of antialiased
// colours, so no count of light or colours refuses it. It is known by its window where there are facts,
// and by its layout: one flat colour, and centred on it a mirror-symmetric sign over lines of text.

const FAILURE_CLASS = /^gnome-session-failed$/i;
const MIN_BACKGROUND = 0.85;
/** A line of text is at least as wide as the sign above it, and all of it fits well inside the screen. */
const MAX_WIDTH = 0.85;
const MAX_HEIGHT = 0.6;
const MIN_MIRRORED = 0.9;
const MIN_TWO_TONE = 0.97;
const MIN_BANDS = 3;
/** How far a colour may lie off the line between background and ink. */
const TONE_TOLERANCE = 24;

/** The window of gnome-session's failure page, where one is mapped. */
export function failureWindow(facts: DesktopFacts): WindowFacts | undefined {
  return facts.windows.find(
    (window) =>
      window.mapped !== false &&
      [window.instance, window.class].some((name) => name !== undefined && FAILURE_CLASS.test(name)),
  );
}

/** True when the frame is laid out like the failure page and nothing else is on the screen. */
export function looksLikeFailurePage(frame: Frame, stats: PixelStats): boolean {
  if (stats.dominantFraction < MIN_BACKGROUND) return false;
  const { regions, edgePixels } = contentOf(frame);
  if (edgePixels > 0) return false;
  const page = boundingBox(withoutCursor(regions, frame));
  if (page === undefined || !isCentred(page, frame)) return false;
  const ink = new PageInk(frame, stats.dominant, page);
  return (
    ink.bands().length >= MIN_BANDS && ink.mirroredTop() >= MIN_MIRRORED && ink.twoTone() >= MIN_TWO_TONE
  );
}

/** A cursor may lie beside the page: drop one cursor-sized patch that leaves the rest centred. */
function withoutCursor(regions: readonly Box[], frame: Frame): readonly Box[] {
  const offCentre = regions.filter((region) => isCursorSized(region) && !isCentredAcross(region, frame));
  return offCentre.length === 1 ? regions.filter((region) => region !== offCentre[0]) : regions;
}

function isCentred(page: Box, frame: Frame): boolean {
  const middle = (page.y + page.height / 2) / frame.height;
  return (
    isCentredAcross(page, frame) &&
    page.width <= frame.width * MAX_WIDTH &&
    page.height <= frame.height * MAX_HEIGHT &&
    middle > 0.25 &&
    middle < 0.75
  );
}

function isCentredAcross(box: Box, frame: Frame): boolean {
  return Math.abs(box.x + box.width / 2 - frame.width / 2) <= frame.width * 0.01 + 1;
}

/** The pixels of the page that are not background, by row. */
class PageInk {
  readonly #rows: Set<number>[];
  readonly #page: Box;
  readonly #frame: Frame;
  readonly #background: number;

  constructor(frame: Frame, background: number, page: Box) {
    this.#frame = frame;
    this.#background = background;
    this.#page = page;
    this.#rows = Array.from({ length: page.height }, () => new Set<number>());
    eachContentPixel(frame, background, (x, y) => {
      if (contains(page, x, y)) this.#rows[y - page.y]?.add(x);
    });
  }

  /** Runs of rows with ink, between empty rows: the sign, the title, the text. */
  bands(): number[] {
    const starts: number[] = [];
    for (const [index, row] of this.#rows.entries())
      if (row.size > 0 && (this.#rows[index - 1]?.size ?? 0) === 0) starts.push(index);
    return starts;
  }

  /** How much of the first band has its mirror image: of a sign all, of text about half. */
  mirroredTop(): number {
    const end = this.#rows.findIndex((row, index) => index > 0 && row.size === 0);
    const axis = 2 * this.#page.x + this.#page.width - 1;
    let [total, mirrored] = [0, 0];
    for (const row of this.#rows.slice(0, end))
      for (const x of row) {
        total++;
        if (row.has(axis - x) || row.has(axis - x + 1) || row.has(axis - x - 1)) mirrored++;
      }
    return total === 0 ? 0 : mirrored / total;
  }

  /** How many ink pixels lie on the line between the background and the darkest or brightest ink. */
  twoTone(): number {
    const pixels = words(this.#frame);
    const colours = this.#rows.flatMap((row, index) =>
      [...row].map((x) => (pixels[(this.#page.y + index) * this.#frame.width + x] as number) & RGB),
    );
    const ink = mostFrequent(colours);
    const matching = colours.filter(
      (colour) => distanceToLine(colour, this.#background, ink) <= TONE_TOLERANCE,
    );
    return matching.length / Math.max(colours.length, 1);
  }
}

function mostFrequent(colours: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  return [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best), [0, 0])[0];
}

/** Distance in the colour cube of `colour` from the line through two others. */
function distanceToLine(colour: number, from: number, to: number): number {
  const direction = minus(channels(to), channels(from));
  const offset = minus(channels(colour), channels(from));
  const length = dot(direction, direction);
  const along = length === 0 ? 0 : dot(offset, direction) / length;
  const off = offset.map((value, index) => value - along * (direction[index] as number));
  return Math.sqrt(dot(off, off));
}

const channels = (colour: number) => [colour & 0xff, (colour >>> 8) & 0xff, colour >>> 16];
const minus = (a: readonly number[], b: readonly number[]) =>
  a.map((value, index) => value - (b[index] as number));
const dot = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, value, index) => sum + value * (b[index] as number), 0);
