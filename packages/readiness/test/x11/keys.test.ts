import { expect, test } from "vitest";
import { KeyMap } from "../../src/x11/keys.js";

const SHIFT = 0xffe1;
const keys = new KeyMap(8, [[], [0x61], [0x31, 0x21], [SHIFT], [0xff0d], [0x20ac + 0x0100_0000], [0x31]]);

test("a character is found by its key, with Shift where it stands in the second column", () => {
  expect(keys.character("1")).toEqual({ keycode: 10, shift: false });
  expect(keys.character("!")).toEqual({ keycode: 10, shift: true });
});

test("a letter alone in its row has its capital above it", () => {
  expect(keys.character("A")).toEqual({ keycode: 9, shift: true });
});

test("line ends are Return, other characters go by their Unicode keysym", () => {
  expect(keys.character("\n")).toEqual({ keycode: 12, shift: false });
  expect(keys.character("€")).toEqual({ keycode: 13, shift: false });
});

test("keys go by name, and what no key brings out is refused", () => {
  expect(keys.key("Return").keycode).toBe(12);
  for (const missing of ["ß", "\u0007", ""])
    expect(() => keys.character(missing)).toThrow(expect.objectContaining({ code: "NO_KEY" }));
  expect(() => keys.key("Hyper")).toThrow(expect.objectContaining({ code: "NO_KEY" }));
});
