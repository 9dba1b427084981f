import { expect, test } from "vitest";
import { FrameParser } from "../../src/session/frame-parser.js";
import { xwdOf } from "../support/xwd.js";

test("a file that shows the same gives the same frame, another one another", () => {
  const parser = new FrameParser();
  const first = parser.parse(xwdOf({ width: 2, height: 1, words: [1, 2] }));
  expect(parser.parse(xwdOf({ width: 2, height: 1, words: [1, 2] }))).toBe(first);
  const second = parser.parse(xwdOf({ width: 2, height: 1, words: [1, 3] }));
  expect(second).not.toBe(first);
  expect([...second.pixels.slice(4)]).toEqual([0, 0, 3, 255]);
});
