import { ReadinessError } from "../errors.js";

/** A picture of the screen: rows from the top, four bytes a pixel (red, green, blue, alpha). */
export interface Frame {
  readonly width: number;
  readonly height: number;
  /** `width * height * 4` bytes, RGBA. */
  readonly pixels: Uint8Array;
}

/** A rectangle in pixels; `x`, `y` is its upper left corner. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** An 8K screen. A header that claims more is a lie or a mistake, and would cost seconds to judge. */
export const MAX_PIXELS = 7680 * 4320;

/** The three colour bytes of a pixel read as one little-endian word. */
export const RGB = 0x00ff_ffff;

/** Throws BAD_FRAME when the sizes and the bytes do not belong together. */
export function assertFrame(frame: Frame): void {
  const { width, height, pixels } = frame;
  const sane = Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0;
  if (sane && width * height <= MAX_PIXELS && pixels.byteLength === width * height * 4) return;
  throw new ReadinessError(
    "BAD_FRAME",
    `a frame of ${width}x${height} with ${pixels.byteLength} bytes is not RGBA of that size`,
    { hint: "give width * height * 4 bytes, at most 7680 * 4320 pixels" },
  );
}

/**
 * The pixels as words 0xAABBGGRR (little-endian machines, which preflight checks).
 * A view where the bytes are aligned, a copy where they are not.
 */
export function words(frame: Frame): Uint32Array {
  assertFrame(frame);
  const { pixels } = frame;
  if (pixels.byteOffset % 4 === 0)
    return new Uint32Array(pixels.buffer, pixels.byteOffset, pixels.byteLength / 4);
  return new Uint32Array(new Uint8Array(pixels).buffer);
}

/** `#rrggbb` of a colour word. */
export function colourName(word: number): string {
  const hex = (shift: number) => ((word >>> shift) & 0xff).toString(16).padStart(2, "0");
  return `#${hex(0)}${hex(8)}${hex(16)}`;
}

/** The columns and rows of a box that lie in a frame, from the first up to but without the last. */
export function clip({ x, y, width, height }: Box, frame: Pick<Frame, "width" | "height">) {
  const inside = (value: number, limit: number) => Math.min(Math.max(Math.round(value), 0), limit);
  return {
    left: inside(x, frame.width),
    top: inside(y, frame.height),
    right: inside(x + width, frame.width),
    bottom: inside(y + height, frame.height),
  };
}
