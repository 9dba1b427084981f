import { ReadinessError } from "../errors.js";
import { GLYPH_HEIGHT, GLYPH_WIDTH, glyph } from "./font.js";
import { type Frame, MAX_PIXELS, words } from "./frame.js";

/** One picture of a contact sheet and what stands above it. */
export interface LabelledFrame {
  readonly frame: Frame;
  readonly label: string;
}

export interface ContactSheetOptions {
  /** Width of a tile in pixels; a wider frame is scaled down to it, a narrower one stays. Default 640. */
  readonly tileWidth?: number;
  /** Tiles beside each other. Default: as many as make the sheet about square. */
  readonly columns?: number;
  /** Pixels of the sheet's own between and around the tiles. Default 12. */
  readonly gap?: number;
  /** Screen pixels for one pixel of the label's 5x7 letters. Default 2. */
  readonly labelScale?: number;
}

const PAPER = 0xff30_2b28;
const INK = 0xfff4_f1ee;

/** All frames on one sheet, in reading order, each under its label. Throws BAD_FRAME for none. */
export function contactSheet(items: readonly LabelledFrame[], options: ContactSheetOptions = {}): Frame {
  const { tileWidth = 640, gap = 12, labelScale = 2 } = options;
  if (items.length === 0)
    throw new ReadinessError("BAD_FRAME", "a contact sheet of no frames", {
      hint: "give at least one frame",
    });
  const columns = Math.min(options.columns ?? Math.ceil(Math.sqrt(items.length)), items.length);
  const tiles = items.map(({ frame, label }) => ({ tile: shrink(frame, tileWidth), label }));
  const cellWidth = Math.max(...tiles.map(({ tile }) => tile.width));
  const labelHeight = GLYPH_HEIGHT * labelScale + gap;
  const cellHeight = Math.max(...tiles.map(({ tile }) => tile.height)) + labelHeight;
  const sheet = blank(
    gap + columns * (cellWidth + gap),
    gap + Math.ceil(tiles.length / columns) * (cellHeight + gap),
  );
  for (const [index, { tile, label }] of tiles.entries()) {
    const x = gap + (index % columns) * (cellWidth + gap);
    const y = gap + Math.floor(index / columns) * (cellHeight + gap);
    drawText(sheet, { text: label, x, y: y + gap / 3, scale: labelScale, width: cellWidth });
    paste(sheet, tile, { x, y: y + labelHeight });
  }
  return sheet;
}

/** The frame at most `width` pixels wide, each new pixel the mean of those it covers. */
export function shrink(frame: Frame, width: number): Frame {
  if (frame.width <= width) return frame;
  const height = Math.max(Math.round((frame.height * width) / frame.width), 1);
  const source = words(frame);
  const target = new Uint32Array(width * height);
  for (let y = 0; y < height; y++) {
    const [top, bottom] = span(y, frame.height, height);
    for (let x = 0; x < width; x++) {
      const [left, right] = span(x, frame.width, width);
      target[y * width + x] = mean(source, frame.width, { left, right, top, bottom });
    }
  }
  return { width, height, pixels: new Uint8Array(target.buffer) };
}

/** The source pixels that a target pixel covers: at least one. */
function span(index: number, from: number, to: number): [number, number] {
  const start = Math.floor((index * from) / to);
  return [start, Math.max(Math.floor(((index + 1) * from) / to), start + 1)];
}

interface Span {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

function mean(source: Uint32Array, width: number, { left, right, top, bottom }: Span): number {
  let [red, green, blue] = [0, 0, 0];
  for (let y = top; y < bottom; y++)
    for (let x = left; x < right; x++) {
      const word = source[y * width + x] as number;
      red += word & 0xff;
      green += (word >>> 8) & 0xff;
      blue += (word >>> 16) & 0xff;
    }
  const count = (right - left) * (bottom - top);
  return (
    0xff00_0000 |
    (Math.round(blue / count) << 16) |
    (Math.round(green / count) << 8) |
    Math.round(red / count)
  );
}

function blank(width: number, height: number): Frame {
  if (!(width * height <= MAX_PIXELS))
    throw new ReadinessError("BAD_FRAME", `a contact sheet of ${width}x${height} is too large`, {
      hint: "take fewer frames or a smaller tileWidth",
    });
  const pixels = new Uint32Array(width * height).fill(PAPER);
  return { width, height, pixels: new Uint8Array(pixels.buffer) };
}

function paste(sheet: Frame, tile: Frame, at: { x: number; y: number }): void {
  for (let y = 0; y < tile.height; y++) {
    const row = tile.pixels.subarray(y * tile.width * 4, (y + 1) * tile.width * 4);
    sheet.pixels.set(row, ((at.y + y) * sheet.width + at.x) * 4);
  }
}

interface Text {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly scale: number;
  /** Letters that would pass this width are left out. */
  readonly width: number;
}

function drawText(sheet: Frame, { text, x, y, scale, width }: Text): void {
  const advance = (GLYPH_WIDTH + 1) * scale;
  const pixels = words(sheet);
  const fitting = [...text].slice(0, Math.floor(width / advance));
  for (const [index, character] of fitting.entries())
    for (const [column, bits] of glyph(character).entries())
      for (let row = 0; row < GLYPH_HEIGHT; row++)
        if ((bits >> row) & 1)
          fill(pixels, sheet.width, {
            left: Math.round(x + index * advance + column * scale),
            top: Math.round(y + row * scale),
            size: scale,
          });
}

function fill(pixels: Uint32Array, width: number, dot: { left: number; top: number; size: number }): void {
  for (let y = dot.top; y < dot.top + dot.size; y++)
    pixels.fill(INK, y * width + dot.left, y * width + dot.left + dot.size);
}
