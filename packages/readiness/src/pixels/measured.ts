import type { Frame } from "./frame.js";
import { type Content, findContent } from "./regions.js";
import { type PixelStats, pixelStats } from "./stats.js";

// Frames do not change, and the siblings of one checkpoint show the same one: each is counted once.

/** {@link pixelStats} of a frame, kept for as long as the frame is. */
export const statsOf: (frame: Frame) => PixelStats = oncePerFrame(pixelStats);

/** What stands out from the frame's most frequent colour, kept for as long as the frame is. */
export const contentOf: (frame: Frame) => Content = oncePerFrame((frame) =>
  findContent(frame, statsOf(frame).dominant),
);

function oncePerFrame<T>(count: (frame: Frame) => T): (frame: Frame) => T {
  const known = new WeakMap<Frame, T>();
  return (frame) => {
    const kept = known.get(frame);
    if (kept !== undefined) return kept;
    const counted = count(frame);
    known.set(frame, counted);
    return counted;
  };
}
