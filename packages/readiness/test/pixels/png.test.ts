import { PNG } from "pngjs";
import { describe, expect, test } from "vitest";
import { decodePng, encodePng } from "../../src/index.js";
import { capture, flat } from "../support/frames.js";

describe("encodePng", () => {
  test("writes what another decoder reads back to the pixel", async () => {
    const frame = capture("openbox-xterm");
    const back = PNG.sync.read(await encodePng(frame));
    expect([back.width, back.height]).toEqual([1280, 800]);
    expect(Buffer.compare(back.data, frame.pixels)).toBe(0);
  });

  test("refuses a frame whose bytes do not fit its size", async () => {
    const frame = { ...flat(4, 4), width: 5 };
    await expect(encodePng(frame)).rejects.toMatchObject({ code: "BAD_FRAME" });
  });
});

describe("decodePng", () => {
  test("reads a palette, grey and alpha PNG alike", () => {
    const frame = flat(3, 2, [9, 9, 9]);
    for (const colorType of [0, 2, 4, 6] as const) {
      const png = new PNG({ width: 3, height: 2 });
      png.data = Buffer.from(frame.pixels);
      expect(decodePng(PNG.sync.write(png, { colorType }))).toEqual(frame);
    }
  });

  test("refuses a text, a cut file and a header that claims more pixels than we read", async () => {
    const file = await encodePng(flat(8, 8));
    const bomb = Buffer.from(file);
    bomb.writeUInt32BE(100_000, 16);
    bomb.writeUInt32BE(100_000, 20);
    for (const bad of [Buffer.from("not a picture at all, but long enough"), file.subarray(0, 50), bomb])
      expect(() => decodePng(bad)).toThrow(expect.objectContaining({ code: "BAD_PNG" }));
  });
});
