import { ReadinessError } from "../errors.js";
import { xwdHeader } from "../pixels/xwd.js";
import type { XSession } from "./connection.js";
import { getImage } from "./requests.js";

/** Of one reply; smaller than what a connection reads at most by default. */
const STRIP_BYTES = 512 * 1024;

/**
 * The screen as an XWD file, asked of the X server: for a server that keeps none itself, as Xvfb does with `-fbdir`.
 * Unlike there the cursor is left out, for it is no part of the root window. The strips that it is read in are asked
 * for together, but what is drawn meanwhile may be in some of them only.
 * Throws X_PROTOCOL for a screen that is not of 32 bits a pixel, and as the connection does.
 */
export async function readScreen(x: XSession): Promise<Buffer> {
  const { root, width, height } = x.setup;
  const rows = Math.max(1, Math.floor(STRIP_BYTES / (width * 4)));
  const tops = Array.from({ length: Math.ceil(height / rows) }, (_, index) => index * rows);
  const strips = await Promise.all(
    tops.map(async (y) => {
      const strip = { x: 0, y, width, height: Math.min(rows, height - y) };
      const pixels = await x.call(getImage(root, strip));
      if (pixels.length !== width * strip.height * 4)
        throw notTrueColour(pixels.length, width * strip.height);
      return pixels;
    }),
  );
  return Buffer.concat([xwdHeader({ width, height }), ...strips]);
}

function notTrueColour(bytes: number, pixels: number): ReadinessError {
  return new ReadinessError("X_PROTOCOL", `the X server gave ${bytes} bytes for ${pixels} pixels`, {
    hint: "start it with a screen of 24 bit depth",
  });
}
