import { describe, expect, test } from "vitest";
import { pixelStats } from "../../src/index.js";
import { boundingBox, countContent, findContent } from "../../src/pixels/regions.js";
import { capture, flat, paint } from "../support/frames.js";

describe("findContent", () => {
  test("finds the boxes of what stands apart, and counts what lies along the edges", () => {
    const frame = flat(640, 400);
    paint(frame, { x: 0, y: 0, width: 640, height: 20 }, [90, 90, 90]);
    paint(frame, { x: 100, y: 100, width: 200, height: 90 }, [255, 255, 255]);
    paint(frame, { x: 500, y: 300, width: 13, height: 20 }, [255, 255, 255]);
    const { regions, edgePixels } = findContent(frame, 0);
    expect(edgePixels).toBe(640 * 20);
    expect(regions).toEqual([
      { x: 100, y: 100, width: 200, height: 90, pixels: 18_000 },
      { x: 500, y: 300, width: 13, height: 20, pixels: 260 },
    ]);
  });

  test("takes a background that is not quite even for background", () => {
    const frame = paint(
      flat(640, 400, [35, 35, 35]),
      { x: 200, y: 200, width: 99, height: 99 },
      [40, 30, 35],
    );
    expect(findContent(frame, 0x232323).regions).toEqual([]);
  });

  test("finds the terminal and the cursor of a real capture", () => {
    const frame = capture("openbox-xterm");
    const { regions } = findContent(frame, pixelStats(frame).dominant);
    expect(regions.map(({ width, height }) => [width, height])).toEqual([
      [486, 341],
      [10, 16],
    ]);
  });
});

test("countContent leaves out the boxes that it is told to", () => {
  const frame = paint(flat(100, 100), { x: 10, y: 10, width: 20, height: 20 }, [255, 0, 0]);
  const everywhere = { x: 0, y: 0, width: 100, height: 100 };
  expect(countContent(frame, 0, everywhere)).toBe(400);
  expect(countContent(frame, 0, everywhere, [{ x: 0, y: 0, width: 20, height: 100 }])).toBe(200);
});

test("boundingBox of nothing is nothing", () => {
  expect(boundingBox([])).toBeUndefined();
});
