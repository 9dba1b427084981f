import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { preflight, readHierarchy } from "../src/index.js";
import { withFake } from "./fake-kernel.js";
import { freshName } from "./support.js";

testNeeding(
  ["root", "cgroup2"],
  "on the real machine a group of one's own works and leaves nothing",
  async () => {
    const parent = freshName();
    const items = await preflight({ parent });
    expect(items.find(({ name }) => name === "cgroup2 group")).toMatchObject({ status: "ok" });
    for (const { status, remedy } of items) if (status !== "ok") expect(remedy).toBeTruthy();
    const { mountPoint = "" } = await readHierarchy();
    expect(existsSync(join(mountPoint, parent))).toBe(false);
  },
);

testNeeding(
  ["root", "cgroup2"],
  "each controller is ok or a gap that says why, and a blocker when required",
  async () => {
    const { controllers } = await readHierarchy();
    const offered = controllers.includes("memory");
    const items = await preflight({ parent: freshName(), required: ["memory"] });
    const memory = items.find(({ name }) => name === "cgroup2 memory");
    expect(memory?.status).toBe(offered ? "ok" : "blocker");
    if (!offered) expect(memory?.detail).toContain("limits of memory are not in force");
  },
);

test("a kernel without cgroup.kill is a gap with the version it needs (fake kernel)", async () => {
  await withFake(async (kernel) => {
    const items = await preflight({ root: kernel.root, proc: join(kernel.folder, "proc"), files: kernel });
    expect(items.find(({ name }) => name === "cgroup2 group")).toMatchObject({
      status: "gap",
      detail: expect.stringContaining("cgroup.kill (Linux 5.14)"),
    });
    expect(items.find(({ name }) => name === "cgroup2 pids")).toMatchObject({ status: "ok" });
  });
});

test("a machine without cgroup2 has gaps, each with a remedy (fake kernel)", async () => {
  await withFake(async (kernel) => {
    const items = await preflight({
      root: join(kernel.root, "elsewhere"),
      proc: join(kernel.folder, "proc"),
    });
    expect(items.map(({ status }) => status)).toEqual(["gap", "gap", "gap", "gap"]);
    for (const { remedy } of items) expect(remedy).toBeTruthy();
  });
});

test("a procfs that cannot be read is a gap, not a throw", async () => {
  const items = await preflight({ proc: "/nonexistent" });
  expect(items).toMatchObject([{ name: "cgroup2", status: "gap", remedy: expect.any(String) }]);
});
