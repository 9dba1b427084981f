import { describe, expect, test } from "vitest";
import { isDrawn } from "../../src/probe/drawn.js";

const SIZE = { width: 80, height: 40 };

/** A white frame with a black box. */
function frameWith(box: { x: number; y: number; width: number; height: number }) {
  const pixels = new Uint8Array(SIZE.width * SIZE.height * 4).fill(255);
  for (let y = box.y; y < box.y + box.height; y++)
    for (let x = box.x; x < box.x + box.width; x++)
      pixels.fill(0, (y * SIZE.width + x) * 4, (y * SIZE.width + x) * 4 + 3);
  return { ...SIZE, pixels };
}

const BLANK = frameWith({ x: 0, y: 0, width: 0, height: 0 });

describe("what counts as drawn", () => {
  test("a letter does, a caret that blinks does not, nothing does not", () => {
    expect(isDrawn(BLANK, frameWith({ x: 20, y: 10, width: 8, height: 12 }))).toBe(true);
    expect(isDrawn(BLANK, frameWith({ x: 20, y: 10, width: 2, height: 16 }))).toBe(false);
    expect(isDrawn(BLANK, BLANK)).toBe(false);
  });

  test("a panel's clock outside of the window does not", () => {
    const clock = frameWith({ x: 30, y: 0, width: 20, height: 8 });
    expect(isDrawn(BLANK, clock)).toBe(true);
    expect(isDrawn(BLANK, clock, { within: { x: 0, y: 10, width: 80, height: 30 } })).toBe(false);
  });
});
