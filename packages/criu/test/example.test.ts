import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { freezeAndThaw } from "../examples/dump-and-restore.js";
import { RULES } from "../src/index.js";
import { CRIU_NEEDS, TEST_HOME } from "./helpers/criu.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drums-example-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

testNeeding(CRIU_NEEDS, "the README's example freezes a process and thaws it", async () => {
  const said = await freezeAndThaw({ home: TEST_HOME, folder });
  expect(said[0]).toBe("CRIU 4.2.1, usable here");
  expect(said.at(-1)).toBe("it went on counting");
});

test("the README shows the example as it stands in its file, and leads to the page that names every rule", async () => {
  const root = new URL("../", import.meta.url);
  const readme = await readFile(new URL("README.md", root), "utf8");
  expect(readme).toContain(await readFile(new URL("examples/dump-and-restore.ts", root), "utf8"));
  const rules = await readFile(new URL("../../docs/criu-rules.md", root), "utf8");
  for (const rule of Object.keys(RULES)) expect(rules).toContain(`\`${rule}\``);
  expect(readme).toContain("docs/criu-rules.md");
  expect(readme).toContain("docs/criu-failures.md");
});
