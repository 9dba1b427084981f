import { ReadinessError } from "../errors.js";
import { type Box, clip, type Frame, RGB, words } from "./frame.js";

/** Where two frames differ: the smallest box around it, and how many pixels. */
export interface ChangedRegion extends Box {
  readonly pixels: number;
}

export interface ChangedRegionOptions {
  /** Look only here (a window's place, say). Default: the whole frame. */
  readonly within?: Box;
}

/** The fraction (0 to 1) of pixels whose colour differs. Frames of different sizes differ wholly: 1. */
export function frameDifference(a: Frame, b: Frame): number {
  if (a === b) return 0;
  if (a.width !== b.width || a.height !== b.height) return 1;
  const left = words(a);
  const right = words(b);
  let changed = 0;
  for (let i = 0; i < left.length; i++)
    if ((((left[i] as number) ^ (right[i] as number)) & RGB) !== 0) changed++;
  return changed / left.length;
}

/**
 * The box around all that changed, or undefined when nothing did.
 * For "did a key arrive": a caret that blinks is 1 or 2 pixels wide, a typed letter at least 6.
 * Throws BAD_FRAME for frames of different sizes.
 */
export function changedRegion(
  a: Frame,
  b: Frame,
  options: ChangedRegionOptions = {},
): ChangedRegion | undefined {
  if (a.width !== b.width || a.height !== b.height)
    throw new ReadinessError(
      "BAD_FRAME",
      `frames of ${a.width}x${a.height} and ${b.width}x${b.height} cannot be compared`,
      { hint: "compare two frames of the same screen" },
    );
  const { left, top, right, bottom } = clip(options.within ?? { x: 0, y: 0, ...a }, a);
  const before = words(a);
  const after = words(b);
  let [x0, y0, x1, y1, pixels] = [right, bottom, -1, -1, 0];
  for (let y = top; y < bottom; y++) {
    const row = y * a.width;
    for (let x = left; x < right; x++) {
      if ((((before[row + x] as number) ^ (after[row + x] as number)) & RGB) === 0) continue;
      pixels++;
      if (x < x0) x0 = x;
      if (x > x1) x1 = x;
      if (y < y0) y0 = y;
      y1 = y;
    }
  }
  return pixels === 0 ? undefined : { x: x0, y: y0, width: x1 - x0 + 1, height: y1 - y0 + 1, pixels };
}
