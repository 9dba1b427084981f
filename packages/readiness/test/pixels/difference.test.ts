import { describe, expect, test } from "vitest";
import { changedRegion, frameDifference } from "../../src/index.js";
import { copy, flat, paint } from "../support/frames.js";

const before = flat(100, 50, [255, 255, 255]);

describe("frameDifference", () => {
  test("is the fraction of pixels that changed, whatever their alpha", () => {
    const after = paint(copy(before), { x: 0, y: 0, width: 10, height: 5 }, [0, 0, 0]);
    after.pixels[after.pixels.length - 1] = 0;
    expect(frameDifference(before, after)).toBe(50 / 5000);
  });

  test("is 1 for frames of different sizes", () => {
    expect(frameDifference(before, flat(50, 100, [255, 255, 255]))).toBe(1);
  });
});

describe("changedRegion", () => {
  test("tells a blinking caret from a typed letter by its width", () => {
    const caret = paint(copy(before), { x: 40, y: 10, width: 1, height: 18 }, [0, 0, 0]);
    const letter = paint(copy(caret), { x: 33, y: 12, width: 7, height: 9 }, [0, 0, 0]);
    expect(changedRegion(before, caret)).toEqual({ x: 40, y: 10, width: 1, height: 18, pixels: 18 });
    expect(changedRegion(before, letter)).toEqual({ x: 33, y: 10, width: 8, height: 18, pixels: 81 });
  });

  test("is undefined when nothing changed, and looks only where it is told", () => {
    const after = paint(copy(before), { x: 40, y: 10, width: 20, height: 20 }, [0, 0, 0]);
    expect(changedRegion(before, copy(before))).toBeUndefined();
    expect(changedRegion(before, after, { within: { x: 0, y: 0, width: 40, height: 50 } })).toBeUndefined();
    expect(changedRegion(before, after, { within: { x: 50, y: -5, width: 500, height: 20 } })).toEqual({
      x: 50,
      y: 10,
      width: 10,
      height: 5,
      pixels: 50,
    });
  });

  test("refuses frames of different sizes", () => {
    expect(() => changedRegion(before, flat(50, 100))).toThrow(
      expect.objectContaining({ code: "BAD_FRAME" }),
    );
  });
});
