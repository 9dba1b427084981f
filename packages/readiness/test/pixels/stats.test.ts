import { describe, expect, test } from "vitest";
import { pixelStats } from "../../src/index.js";
import { capture, flat, paint } from "../support/frames.js";

describe("pixelStats", () => {
  test("counts a frame that is known by hand", () => {
    const frame = paint(flat(160, 100, [10, 10, 10]), { x: 20, y: 30, width: 10, height: 5 }, [200, 0, 0]);
    expect(pixelStats(frame)).toEqual({
      width: 160,
      height: 100,
      colours: 2,
      litPixels: 50,
      litFraction: 50 / 16_000,
      litBox: { x: 20, y: 30, width: 10, height: 5 },
      dominant: 0x0a0a0a,
      dominantFraction: 1 - 50 / 16_000,
      // Of the cells the box covers, (2,3) alone keeps a dark part.
      texturedCells: 1,
      texturedFraction: 1 / 160,
    });
  });

  test("counts every colour of a frame that repeats none", () => {
    const frame = flat(512, 512);
    for (let i = 0; i < 512 * 512; i++) frame.pixels.set([i & 255, (i >> 8) & 255, i >> 16, 255], i * 4);
    expect(pixelStats(frame).colours).toBe(512 * 512);
  });

  test("agrees with what was measured by others on a black capture", () => {
    const stats = pixelStats(capture("black-with-cursor-yaru-norandr"));
    expect([stats.colours, stats.litPixels]).toEqual([68, 136]);
  });

  test("judges a black frame without a lit box, and one smaller than its grid", () => {
    expect(pixelStats(flat(64, 64))).not.toHaveProperty("litBox");
    expect(pixelStats(flat(3, 2, [255, 255, 255])).litPixels).toBe(6);
  });
});
