import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseXwd, ReadinessError } from "../../src/index.js";

/** A file as Xvfb writes it: big-endian header, name, colour map, then BGRX lines. */
function xwdFile(width: number, height: number, changes: Record<number, number> = {}, padding = 0): Buffer {
  const stride = width * 4 + padding;
  const start = 160 + 256 * 12;
  const file = Buffer.alloc(start + stride * height);
  const header = [
    160,
    7,
    2,
    24,
    width,
    height,
    0,
    0,
    32,
    0,
    32,
    32,
    stride,
    4,
    0xff0000,
    0xff00,
    0xff,
    8,
    256,
    256,
  ];
  for (const [index, value] of header.entries()) file.writeUInt32BE(changes[index] ?? value, index * 4);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) file.set([x, y, 200, 0], start + y * stride + x * 4);
  return file;
}

describe("parseXwd", () => {
  test("turns BGRX into opaque RGBA", () => {
    const frame = parseXwd(xwdFile(5, 3));
    expect([frame.width, frame.height, frame.pixels.length]).toEqual([5, 3, 60]);
    expect([...frame.pixels.subarray((2 * 5 + 4) * 4)]).toEqual([200, 2, 4, 255]);
  });

  test("reads a file at an odd place in memory, and lines with padding", () => {
    const plain = parseXwd(xwdFile(5, 3));
    const odd = Buffer.concat([Buffer.alloc(1), xwdFile(5, 3)]).subarray(1);
    expect(parseXwd(odd)).toEqual(plain);
    expect(parseXwd(xwdFile(5, 3, {}, 8))).toEqual(plain);
  });

  test.each([
    ["another version", { 1: 6 }],
    ["an XY pixmap", { 2: 1 }],
    ["big-endian pixels", { 7: 1 }],
    ["16 bits a pixel", { 11: 16 }],
    ["RGB masks the other way round", { 14: 0xff, 16: 0xff0000 }],
    ["no width", { 4: 0 }],
    ["a width that its lines do not hold", { 4: 6 }],
    ["a height that the file does not hold", { 5: 4 }],
    ["a screen of 4 billion pixels", { 4: 65_536, 5: 65_536 }],
    ["a colour map beyond the file", { 19: 0xffff_ffff }],
  ])("refuses %s", (_, changes) => {
    expect(() => parseXwd(xwdFile(5, 3, changes))).toThrow(expect.objectContaining({ code: "BAD_XWD" }));
  });

  test("answers any header with a frame or a ReadinessError", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (head) => {
        const file = xwdFile(3, 3);
        file.set(head);
        try {
          const { width, height, pixels } = parseXwd(file);
          expect(pixels.length).toBe(width * height * 4);
        } catch (error) {
          expect(error).toBeInstanceOf(ReadinessError);
        }
      }),
    );
  });
});
