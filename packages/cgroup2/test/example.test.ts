import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { ownGroup } from "../examples/own-group.js";
import { readHierarchy } from "../src/index.js";
import { freshName } from "./support.js";

testNeeding(["root", "cgroup2"], "the README's example runs and leaves nothing", async () => {
  const id = freshName();
  const lines = await ownGroup(id);
  expect(lines[0]).toContain(`/example/${id}`);
  expect(lines).toContain("member: true");
  expect(lines).toContain("frozen: true");
  const { mountPoint = "" } = await readHierarchy();
  expect(existsSync(join(mountPoint, "example"))).toBe(false);
});
