import { expect, test } from "vitest";
import { readHierarchy } from "../src/index.js";

test("a hierarchy of v2 alone is found with every controller that it has", async () => {
  const hierarchy = await readHierarchy();
  expect(hierarchy).toMatchObject({ mode: "v2", mountPoint: "/sys/fs/cgroup", heldByV1: {} });
  expect(hierarchy.controllers).toEqual(
    expect.arrayContaining(["cpuset", "cpu", "io", "memory", "hugetlb", "pids", "misc"]),
  );
});
