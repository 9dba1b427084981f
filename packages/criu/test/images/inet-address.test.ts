import { expect, test } from "vitest";
import { inetAddress } from "../../src/images/inet-address.js";

/** The words of an address as CRIU writes them. */
function words(bytes: readonly number[]): number[] {
  const buffer = Buffer.from(bytes);
  return Array.from({ length: bytes.length / 4 }, (_, index) => buffer.readUInt32LE(index * 4));
}

test.each([
  ["127.0.0.1", [127, 0, 0, 1], false],
  ["[::1]", [...new Array(15).fill(0), 1], true],
  ["[::]", new Array(16).fill(0), true],
  ["[fe80::1:0:0:2]", [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2], true],
  ["[2001:db8:1:2:3:4:5:0]", [0x20, 1, 0x0d, 0xb8, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 0], true],
] as const)("%s", (text, bytes, isSix) => {
  expect(inetAddress(words(bytes), { isSix })).toBe(text);
});

test("words that are missing are zero", () => {
  expect(inetAddress([], { isSix: false })).toBe("0.0.0.0");
});
