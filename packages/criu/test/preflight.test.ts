import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { preflight } from "../src/index.js";
import { CRIU_NEEDS, TEST_HOME, testCriu } from "./helpers/criu.js";

let home: string;
const path = process.env.PATH;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "drums-preflight-"));
});
afterEach(async () => {
  process.env.PATH = path;
  await rm(home, { recursive: true, force: true });
});

test("without a criu the preflight blocks, and every gap has a remedy", async () => {
  process.env.PATH = home;
  const items = await preflight({ home });
  expect(items.map(({ name, status }) => `${name} ${status}`)).toEqual([
    "criu blocker",
    "ip blocker",
    "tar blocker",
    "gzip blocker",
  ]);
  for (const { remedy } of items) expect(remedy).toBeTruthy();
});

testNeeding(
  CRIU_NEEDS,
  "with the bundle installed all is in order, and the check is remembered",
  async () => {
    await testCriu();
    const items = await preflight({ home: TEST_HOME });
    expect(items.filter(({ status }) => status !== "ok")).toEqual([]);
    expect(items.map(({ name }) => name)).toContain("criu check");
    expect((await readdir(join(TEST_HOME, "criu", "kernel"))).some((name) => name.endsWith(".check"))).toBe(
      true,
    );
  },
);
