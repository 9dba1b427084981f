import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { VERSION } from "../src/version.js";

test("the version is package.json's", async () => {
  const text = await readFile(new URL("../package.json", import.meta.url), "utf8");
  expect(VERSION).toBe(JSON.parse(text).version);
});
