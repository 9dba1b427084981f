import { type Box, changedRegion, type Frame } from "@drums/readiness";
import type { LiveSession } from "../session/open.js";
import { waitFor } from "../session/wait-for.js";

/** A caret that blinks is narrower than this; a typed letter is wider. */
const CARET_WIDTH = 5;
/** A screen that changed by no more than a caret for so many looks in a row stands still. */
const STILL_LOOKS = 3;

/** Where and how long to look. */
export interface DrawnOptions {
  /** Only here, as in a window's place: a panel's clock changes by itself. Default the whole screen. */
  readonly within?: Box | undefined;
  /** Default 30 000. */
  readonly timeoutMs?: number;
}

/** The frame after more than a caret changed since `before` and then nothing but a caret did. */
export async function untilDrawn(
  live: LiveSession,
  before: Frame,
  options: DrawnOptions = {},
): Promise<Frame> {
  const { timeoutMs = 30_000 } = options;
  let last = before;
  let still = 0;
  await waitFor(
    async () => {
      const frame = await live.frame();
      still = isDrawn(last, frame, options) ? 0 : still + 1;
      last = frame;
      return still >= STILL_LOOKS && isDrawn(before, frame, options);
    },
    { what: "the typed text on the screen", timeoutMs, pollMs: 25 },
  );
  return last;
}

/** Whether more than a caret differs between two frames. */
export function isDrawn(before: Frame, after: Frame, { within }: DrawnOptions = {}): boolean {
  const region = changedRegion(before, after, within === undefined ? {} : { within });
  return region !== undefined && region.width > CARET_WIDTH;
}
