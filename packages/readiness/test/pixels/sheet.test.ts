import { describe, expect, test } from "vitest";
import { changedRegion, contactSheet, shrink } from "../../src/index.js";
import { glyph } from "../../src/pixels/font.js";
import { flat, paint } from "../support/frames.js";

describe("contactSheet", () => {
  const items = ["one", "two", "three"].map((label) => ({ frame: flat(1280, 800, [200, 0, 0]), label }));

  test("puts scaled frames in reading order under their labels", () => {
    const sheet = contactSheet(items, { tileWidth: 320, gap: 10, labelScale: 1 });
    expect([sheet.width, sheet.height]).toEqual([10 + 2 * 330, 10 + 2 * (217 + 10)]);
    const at = (x: number, y: number) => [...sheet.pixels.subarray((y * sheet.width + x) * 4).subarray(0, 3)];
    expect(at(10, 10 + 17)).toEqual([200, 0, 0]);
    expect(at(340, 10 + 17)).toEqual([200, 0, 0]);
    expect(at(10, 237 + 17)).toEqual([200, 0, 0]);
    expect(at(340, 237 + 17)).not.toEqual([200, 0, 0]);
  });

  test("draws labels that differ, and only in the label's place", () => {
    const [first] = items as [(typeof items)[0]];
    const changed = changedRegion(contactSheet([first]), contactSheet([{ ...first, label: "One" }]));
    expect(changed?.width).toBeGreaterThanOrEqual(6);
    expect(changed?.width).toBeLessThanOrEqual(12);
    expect((changed?.y ?? 99) + (changed?.height ?? 99)).toBeLessThan(12 + 26);
  });

  test("refuses no frames, and a sheet beyond all bounds", () => {
    expect(() => contactSheet([])).toThrow(expect.objectContaining({ code: "BAD_FRAME" }));
    expect(() => contactSheet(items, { gap: 10_000 })).toThrow(
      expect.objectContaining({ code: "BAD_FRAME" }),
    );
  });
});

test("shrink gives each pixel the mean of those it covers, and leaves a small frame alone", () => {
  const frame = paint(flat(4, 2), { x: 0, y: 0, width: 1, height: 2 }, [100, 200, 40]);
  expect([...shrink(frame, 2).pixels]).toEqual([50, 100, 20, 255, 0, 0, 0, 255]);
  expect(shrink(frame, 4)).toBe(frame);
});

test("every printable character has a glyph of its own", () => {
  const characters = Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index));
  expect(new Set(characters.map((character) => glyph(character).join())).size).toBe(95);
  expect(glyph("é")).toEqual(glyph("?"));
});
