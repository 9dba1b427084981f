import { expect, test } from "vitest";
import { preflight } from "../src/index.js";

test("preflight finds nothing missing here", async () => {
  const items = await preflight();
  expect(items.map(({ name, status }) => [name, status])).toEqual([
    ["Node", "ok"],
    ["byte order", "ok"],
    ["PNG", "ok"],
  ]);
});

test("preflight names a remedy for each blocker", async () => {
  const items = await preflight({ nodeVersion: "20.9.0", byteOrder: "BE" });
  const blockers = items.filter(({ status }) => status === "blocker");
  expect(blockers.map(({ name }) => name)).toEqual(["Node", "byte order"]);
  expect(blockers.every(({ remedy }) => remedy !== undefined)).toBe(true);
});
