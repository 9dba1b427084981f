import { appendFile, chmod, mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { stampLayer } from "../../src/index.js";

/** A time at which all that a test has done lies long back. */
const later = () => ({ now: Date.now() + 60_000 });

let layer: string;
beforeEach(async () => {
  layer = await mkdtemp(join(tmpdir(), "drums-stamp-"));
  await mkdir(join(layer, "usr"));
  await writeFile(join(layer, "usr/file"), "a text");
});
afterEach(() => rm(layer, { recursive: true }));

test("stays as it is while nothing changes", async () => {
  expect(await stampLayer(layer, later())).toBe(await stampLayer(layer, later()));
});

test.each([
  ["content of the same length", () => writeFile(join(layer, "usr/file"), "b text")],
  ["a mode", () => chmod(join(layer, "usr/file"), 0o600)],
  ["another file", () => writeFile(join(layer, "more"), "")],
  [
    "content whose time was set back",
    async () => {
      const before = new Date(1_000_000);
      await utimes(join(layer, "usr/file"), before, before);
      await appendFile(join(layer, "usr/file"), "!");
      await utimes(join(layer, "usr/file"), before, before);
    },
  ],
])("%s changes it", async (_what, change) => {
  const before = await stampLayer(layer, later());
  await change();
  expect(await stampLayer(layer, later())).not.toBe(before);
});

test("there is none while a change may still come with the time of the last one", async () => {
  expect(await stampLayer(layer)).toBeUndefined();
});
