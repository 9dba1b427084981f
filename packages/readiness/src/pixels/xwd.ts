import { open } from "node:fs/promises";
import { ReadinessError } from "../errors.js";
import { type Frame, MAX_PIXELS } from "./frame.js";

// Fields of the X window dump header by their index as CARD32, big-endian (X11/XWDFile.h).
const HEADER_SIZE = 0;
const FILE_VERSION = 1;
const PIXMAP_FORMAT = 2;
const WIDTH = 4;
const HEIGHT = 5;
const BYTE_ORDER = 7;
const BITS_PER_PIXEL = 11;
const BYTES_PER_LINE = 12;
const RED_MASK = 14;
const GREEN_MASK = 15;
const BLUE_MASK = 16;
const COLOUR_COUNT = 19;
const FIXED_HEADER_BYTES = 100;
const COLOUR_ENTRY_BYTES = 12;
const XWD_VERSION = 7;
const Z_PIXMAP = 2;
const MAX_FILE_BYTES = MAX_PIXELS * 4 + 65_536;

/**
 * The frame in an XWD file: what Xvfb keeps in `-fbdir` (`Xvfb_screen0`), or `xwd` writes.
 * Only the layout that a 24 or 32 bit TrueColor screen has: 32 bits a pixel, little-endian BGRX.
 * Throws BAD_XWD for everything else, and for a header whose sizes the bytes do not hold.
 */
export function parseXwd(file: Uint8Array): Frame {
  if (file.byteLength < FIXED_HEADER_BYTES) throw badXwd(`${file.byteLength} bytes are no XWD header`);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const field = (index: number) => view.getUint32(index * 4);
  refuseOtherLayouts(field);
  const width = field(WIDTH);
  const height = field(HEIGHT);
  const stride = field(BYTES_PER_LINE);
  const start = field(HEADER_SIZE) + field(COLOUR_COUNT) * COLOUR_ENTRY_BYTES;
  if (width === 0 || height === 0 || width * height > MAX_PIXELS)
    throw badXwd(`a screen of ${width}x${height} is out of bounds`);
  if (stride < width * 4 || stride % 4 !== 0)
    throw badXwd(`${stride} bytes a line do not hold ${width} pixels`);
  if (start < FIXED_HEADER_BYTES || start + stride * height > file.byteLength)
    throw badXwd(`the file has ${file.byteLength} bytes, its header promises ${start + stride * height}`);
  return { width, height, pixels: toRgba(file, { start, stride, width, height }) };
}

/** Reads and parses an XWD file. A session's own file is hostile: read it through nsexec's door instead. */
export async function readXwd(path: string): Promise<Frame> {
  const handle = await open(path, "r");
  try {
    const { size } = await handle.stat();
    if (size > MAX_FILE_BYTES) throw badXwd(`${path} has ${size} bytes`);
    return parseXwd(await handle.readFile());
  } finally {
    await handle.close();
  }
}

/** The header of an XWD file that {@link parseXwd} takes, for a screen whose pixels follow densely. */
export function xwdHeader({ width, height }: { readonly width: number; readonly height: number }): Buffer {
  const header = Buffer.alloc(FIXED_HEADER_BYTES);
  const fields = [
    [HEADER_SIZE, FIXED_HEADER_BYTES],
    [FILE_VERSION, XWD_VERSION],
    [PIXMAP_FORMAT, Z_PIXMAP],
    [WIDTH, width],
    [HEIGHT, height],
    [BITS_PER_PIXEL, 32],
    [BYTES_PER_LINE, width * 4],
    [RED_MASK, 0xff0000],
    [GREEN_MASK, 0xff00],
    [BLUE_MASK, 0xff],
  ] as const;
  for (const [index, value] of fields) header.writeUInt32BE(value, index * 4);
  return header;
}

function refuseOtherLayouts(field: (index: number) => number): void {
  if (field(FILE_VERSION) !== XWD_VERSION)
    throw badXwd(`version ${field(FILE_VERSION)} is not ${XWD_VERSION}`);
  if (field(PIXMAP_FORMAT) !== Z_PIXMAP || field(BITS_PER_PIXEL) !== 32 || field(BYTE_ORDER) !== 0)
    throw badXwd(
      `format ${field(PIXMAP_FORMAT)}, ${field(BITS_PER_PIXEL)} bits a pixel is not 32 bit little-endian Z`,
    );
  if (field(RED_MASK) !== 0xff0000 || field(GREEN_MASK) !== 0xff00 || field(BLUE_MASK) !== 0xff)
    throw badXwd("the colour masks are not BGRX");
}

interface Layout {
  readonly start: number;
  readonly stride: number;
  readonly width: number;
  readonly height: number;
}

/** Whole words at a time, four a turn: a screenshot is on the path of every fork. */
function toRgba(file: Uint8Array, { start, stride, width, height }: Layout): Uint8Array {
  const source = alignedWords(file, start, (stride * height) / 4);
  const target = new Int32Array(width * height);
  const isDense = stride === width * 4;
  const [rows, length] = isDense ? [1, width * height] : [height, width];
  for (let row = 0; row < rows; row++)
    convert(source.subarray((row * stride) / 4), target.subarray(row * width, row * width + length));
  return new Uint8Array(target.buffer);
}

function convert(source: Int32Array, target: Int32Array): void {
  const whole = target.length - (target.length % 4);
  let at = 0;
  for (; at < whole; at += 4) {
    target[at] = rgba(source[at] as number);
    target[at + 1] = rgba(source[at + 1] as number);
    target[at + 2] = rgba(source[at + 2] as number);
    target[at + 3] = rgba(source[at + 3] as number);
  }
  for (; at < target.length; at++) target[at] = rgba(source[at] as number);
}

/** Red and blue change places, alpha is opaque. */
function rgba(bgrx: number): number {
  return -0x100_0000 | ((bgrx & 0xff) << 16) | (bgrx & 0xff00) | ((bgrx >>> 16) & 0xff);
}

function alignedWords(file: Uint8Array, start: number, length: number): Int32Array {
  if ((file.byteOffset + start) % 4 === 0)
    return new Int32Array(file.buffer, file.byteOffset + start, length);
  return new Int32Array(new Uint8Array(file.subarray(start, start + length * 4)).buffer);
}

function badXwd(detail: string): ReadinessError {
  return new ReadinessError("BAD_XWD", `not a usable XWD screen file: ${detail}`, {
    hint: "start Xvfb with -fbdir and -screen 0 WIDTHxHEIGHTx24, and read the file after the server is up",
  });
}
