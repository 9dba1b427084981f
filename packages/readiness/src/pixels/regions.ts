import { type Box, clip, type Frame, RGB, words } from "./frame.js";

/** A patch of the screen that is not background. */
export interface Region extends Box {
  /** Content pixels in it. */
  readonly pixels: number;
}

/** What stands out from the background, sorted into what it can be. */
export interface Content {
  /** Patches away from the screen's edges, the largest first. */
  readonly regions: readonly Region[];
  /** Content pixels in the strips along the edges, where panels and docks live. */
  readonly edgePixels: number;
  /** The part of the screen inside those strips. */
  readonly interior: Box;
}

/** Regions are found on a grid of cells this wide; patches less than a cell apart are one. */
const CELL = 16;
/** Panels and docks lie within this share of the screen's edge. */
const EDGE_SHARE = 0.06;
/** A channel that differs by more than this from the background is content. */
const TOLERANCE = 8;
/** A mouse cursor, at the largest that themes draw it. */
const CURSOR_SIZE = 64;

/** Splits the pixels that differ from `background` (a word 0xBBGGRR) into regions. */
export function findContent(frame: Frame, background: number): Content {
  const interior = interiorOf(frame);
  const cells = new CellGrid(frame);
  let edgePixels = 0;
  eachContentPixel(frame, background, (x, y) => {
    if (contains(interior, x, y)) cells.add(x, y);
    else edgePixels++;
  });
  return { regions: cells.regions(), edgePixels, interior };
}

/** Content pixels within `box`, without those in any box of `except`. */
export function countContent(
  frame: Frame,
  background: number,
  box: Box,
  except: readonly Box[] = [],
): number {
  let count = 0;
  const visit = (x: number, y: number) => {
    if (!except.some((hole) => contains(hole, x, y))) count++;
  };
  eachContentPixel(frame, background, visit, { within: box });
  return count;
}

/** Calls `visit` for each pixel that differs from the background; `within`, by default everywhere. */
export function eachContentPixel(
  frame: Frame,
  background: number,
  visit: (x: number, y: number, colour: number) => void,
  { within = { x: 0, y: 0, ...frame } }: { readonly within?: Box } = {},
): void {
  const pixels = words(frame);
  const { left, top, right, bottom } = clip(within, frame);
  for (let y = top; y < bottom; y++)
    for (let x = left, at = y * frame.width + left; x < right; x++, at++) {
      const colour = (pixels[at] as number) & RGB;
      if (colour !== background && differs(colour, background)) visit(x, y, colour);
    }
}

/** True for a patch no larger than a mouse cursor. */
export function isCursorSized(region: Box): boolean {
  return region.width <= CURSOR_SIZE && region.height <= CURSOR_SIZE;
}

/** The smallest box around all of them. */
export function boundingBox(boxes: readonly Box[]): Box | undefined {
  if (boxes.length === 0) return undefined;
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

export function contains(box: Box, x: number, y: number): boolean {
  return x >= box.x && y >= box.y && x < box.x + box.width && y < box.y + box.height;
}

function differs(a: number, b: number): boolean {
  return (
    Math.abs((a & 0xff) - (b & 0xff)) > TOLERANCE ||
    Math.abs(((a >>> 8) & 0xff) - ((b >>> 8) & 0xff)) > TOLERANCE ||
    Math.abs((a >>> 16) - (b >>> 16)) > TOLERANCE
  );
}

/** The screen without its edge strips, on cell borders. */
function interiorOf({ width, height }: Frame): Box {
  const strip = (length: number) => Math.ceil((length * EDGE_SHARE) / CELL) * CELL;
  const [x, y] = [strip(width), strip(height)];
  return { x, y, width: Math.max(width - 2 * x, 0), height: Math.max(height - 2 * y, 0) };
}

/** Content pixels gathered by cell, each cell with the exact box of its own. */
class CellGrid {
  readonly #columns: number;
  readonly #rows: number;
  readonly #pixels: Uint32Array;
  readonly #left: Uint32Array;
  readonly #top: Uint32Array;
  readonly #right: Uint32Array;
  readonly #bottom: Uint32Array;

  constructor({ width, height }: Frame) {
    this.#columns = Math.ceil(width / CELL);
    this.#rows = Math.ceil(height / CELL);
    const size = this.#columns * this.#rows;
    this.#pixels = new Uint32Array(size);
    this.#left = new Uint32Array(size).fill(0xffff_ffff);
    this.#top = new Uint32Array(size);
    this.#right = new Uint32Array(size);
    this.#bottom = new Uint32Array(size);
  }

  /** Rows come in order, so the first pixel of a cell is its top and the last its bottom. */
  add(x: number, y: number): void {
    const cell = Math.floor(y / CELL) * this.#columns + Math.floor(x / CELL);
    if (this.#pixels[cell] === 0) this.#top[cell] = y;
    this.#pixels[cell] = (this.#pixels[cell] as number) + 1;
    this.#bottom[cell] = y;
    if (x < (this.#left[cell] as number)) this.#left[cell] = x;
    if (x > (this.#right[cell] as number)) this.#right[cell] = x;
  }

  /** Cells that touch, also by a corner, joined; the region with most pixels first. */
  regions(): Region[] {
    const seen = new Uint8Array(this.#pixels.length);
    const found: Region[] = [];
    for (let cell = 0; cell < this.#pixels.length; cell++)
      if (this.#pixels[cell] !== 0 && seen[cell] === 0) found.push(this.#flood(cell, seen));
    return found.sort((a, b) => b.pixels - a.pixels);
  }

  #flood(start: number, seen: Uint8Array): Region {
    const open = [start];
    seen[start] = 1;
    let [left, top, right, bottom, pixels] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0, 0, 0];
    for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
      pixels += this.#pixels[cell] as number;
      left = Math.min(left, this.#left[cell] as number);
      top = Math.min(top, this.#top[cell] as number);
      right = Math.max(right, this.#right[cell] as number);
      bottom = Math.max(bottom, this.#bottom[cell] as number);
      for (const next of this.#neighbours(cell))
        if (this.#pixels[next] !== 0 && seen[next] === 0) {
          seen[next] = 1;
          open.push(next);
        }
    }
    return { x: left, y: top, width: right - left + 1, height: bottom - top + 1, pixels };
  }

  *#neighbours(cell: number): Generator<number> {
    const column = cell % this.#columns;
    const row = Math.floor(cell / this.#columns);
    for (let y = Math.max(row - 1, 0); y <= Math.min(row + 1, this.#rows - 1); y++)
      for (let x = Math.max(column - 1, 0); x <= Math.min(column + 1, this.#columns - 1); x++)
        yield y * this.#columns + x;
  }
}
