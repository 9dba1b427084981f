import { join } from "node:path";
import { expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { createGroup, enableControllers, explainErrno, readHierarchy, setLimits } from "../src/index.js";
import { withFake } from "./fake-kernel.js";
import { withGroup } from "./support.js";

test("controllers are enabled from the root down, one at a time (fake kernel)", async () => {
  await withFake(async (kernel) => {
    const group = await createGroup({ hierarchy: await kernel.hierarchy(), path: ["drums", "pool", "one"] });
    await enableControllers(group, ["memory", "pids"]);
    expect(kernel.writes).toEqual([
      "cgroup.subtree_control +memory",
      "drums/cgroup.subtree_control +memory",
      "drums/pool/cgroup.subtree_control +memory",
      "cgroup.subtree_control +pids",
      "drums/cgroup.subtree_control +pids",
      "drums/pool/cgroup.subtree_control +pids",
    ]);
  });
});

test("what is enabled already is not written again (fake kernel)", async () => {
  await withFake(async (kernel) => {
    const group = await createGroup({ hierarchy: await kernel.hierarchy(), path: ["drums", "one"] });
    await enableControllers(group, ["memory"]);
    kernel.writes.length = 0;
    await enableControllers(group, ["memory"]);
    expect(kernel.writes).toEqual([]);
  });
});

test("a refusal names the exact file and errno, and nothing below it is written (fake kernel)", async () => {
  await withFake(async (kernel) => {
    const group = await createGroup({ hierarchy: await kernel.hierarchy(), path: ["drums", "pool", "one"] });
    const file = join(kernel.root, "drums/cgroup.subtree_control");
    kernel.refuse = { file, errno: "EBUSY" };
    const enabled = enableControllers(group, ["memory"]);
    await expect(enabled).rejects.toMatchObject({
      code: "CONTROLLER_REFUSED",
      path: file,
      errno: "EBUSY",
      controller: "memory",
    });
    expect(kernel.writes.at(-1)).toBe("drums/cgroup.subtree_control +memory");
  });
});

test("a write that is taken but has no effect is found by reading back (fake kernel)", async () => {
  await withFake(async (kernel) => {
    const group = await createGroup({ hierarchy: await kernel.hierarchy(), path: ["drums", "one"] });
    kernel.ignore = join(kernel.root, "cgroup.subtree_control");
    await expect(enableControllers(group, ["cpu"])).rejects.toMatchObject({
      code: "CONTROLLER_REFUSED",
      path: kernel.ignore,
      errno: undefined,
    });
  });
});

test("a controller that the root does not offer is unavailable, with a remedy (fake kernel)", async () => {
  await withFake(async (kernel) => {
    const group = await createGroup({ hierarchy: await kernel.hierarchy(), path: ["drums", "one"] });
    await expect(enableControllers(group, ["hugetlb"])).rejects.toMatchObject({
      code: "CONTROLLER_UNAVAILABLE",
      controller: "hugetlb",
      hint: expect.stringContaining("delegated"),
    });
    expect(kernel.writes).toEqual([]);
  });
});

testNeeding(
  ["root", "cgroup2"],
  "the kernel refuses a controller that is not enabled above: ENOENT",
  async () => {
    await withGroup(async (group) => {
      const file = join(group.path, "cgroup.subtree_control");
      // No kernel offers a fresh group a controller that its parent does not enable.
      expect(group.hierarchy.files.read(join(group.path, "cgroup.controllers")).trim()).toBe("");
      expect(() => group.hierarchy.files.write(file, "+memory")).toThrowError(
        expect.objectContaining({ errno: "ENOENT", hint: expect.stringContaining("from the root down") }),
      );
    });
  },
);

testNeeding(
  ["root", "cgroup2"],
  "limits are in force on this machine, or it is said why they are not",
  async () => {
    const { controllers, heldByV1 } = await readHierarchy();
    await withGroup(async (group) => {
      if (controllers.includes("pids")) await enableControllers(group, ["pids"]);
      const report = await setLimits(group, { pidsMax: 100 });
      expect(report.enforced).toBe(controllers.includes("pids"));
      if (report.enforced) return expect(report.readBack).toEqual({ pidsMax: 100 });
      const holder = heldByV1.pids;
      expect(report.reason).toContain(holder ?? "does not offer pids");
      expect(report.readBack).toEqual({});
    });
  },
);

test("each errno of cgroupfs has a cause and a remedy, and some mean more in one file", () => {
  for (const errno of ["EBUSY", "ENOENT", "EOPNOTSUPP", "EINVAL", "EPERM", "EACCES", "ENODEV"]) {
    const { cause, remedy } = explainErrno(errno);
    expect(cause).not.toBe(errno);
    expect(remedy).not.toBe("");
  }
  const inner = explainErrno("EBUSY", { file: "/sys/fs/cgroup/drums/cgroup.subtree_control" });
  expect(inner.cause).toContain("holds processes itself");
  expect(explainErrno("EBUSY").cause).not.toBe(inner.cause);
});
