import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { freezeAndFork } from "../examples/freeze-and-fork.js";
import { DESKTOP_NEEDS, withTestHome } from "./support/test-home.js";
import { testImage } from "./support/test-image.js";

testNeeding(DESKTOP_NEEDS, "the README's example freezes a desktop and forks it", async () => {
  const { path } = await testImage();
  await withTestHome(async (home) => {
    expect(await freezeAndFork(path, home)).toEqual(["a screen of 1280×800", "2 siblings, each usable"]);
  });
});

test("the README shows the example as it stands in its file", async () => {
  const root = new URL("../", import.meta.url);
  const readme = await readFile(new URL("README.md", root), "utf8");
  expect(readme).toContain(await readFile(new URL("examples/freeze-and-fork.ts", root), "utf8"));
});
