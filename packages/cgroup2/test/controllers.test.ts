import { join } from "node:path";
import { expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { controllerStatus, createGroup, enableControllers, readHierarchy } from "../src/index.js";
import { withFake } from "./fake-kernel.js";

// The kernel's own refusals are met in errno.vm.test.ts and delegation.vm-systemd.test.ts.

const PATH = ["drums", "pool", "one"];

test("a controller is available before it is enabled, of groups too that are not there yet (fake kernel)", async () => {
  await withFake(async (kernel) => {
    const hierarchy = await kernel.hierarchy();
    const question = { hierarchy, path: PATH, controller: "memory" };
    expect(controllerStatus(question)).toEqual({ available: true, delegated: true, enabled: false });
    await enableControllers(await createGroup({ hierarchy, path: PATH }), ["memory"]);
    expect(controllerStatus(question)).toEqual({ available: true, delegated: true, enabled: true });
    expect(controllerStatus({ ...question, controller: "pids" }).enabled).toBe(false);
  });
});

test("a group that may not be written stops it, and the unit to delegate is named (fake kernel)", async () => {
  await withFake(async (kernel) => {
    const hierarchy = { ...(await kernel.hierarchy()), ownPath: "/system.slice/desktop.service/own" };
    await createGroup({ hierarchy, path: PATH });
    const file = join(kernel.root, "drums/cgroup.subtree_control");
    kernel.refuse = { file, errno: "EACCES" };
    expect(controllerStatus({ hierarchy, path: PATH, controller: "memory" })).toMatchObject({
      available: true,
      delegated: false,
      enabled: false,
      stop: { errno: "EACCES", file, remedy: expect.stringContaining("systemctl edit desktop.service") },
    });
    expect(kernel.writes).toEqual([]);
  });
});

testNeeding(
  ["root", "cgroup2"],
  "on the real machine a controller is on offer, or its holder is named",
  async () => {
    const hierarchy = await readHierarchy();
    const { available, gap } = controllerStatus({ hierarchy, path: PATH, controller: "memory" });
    expect(available).toBe(hierarchy.controllers.includes("memory"));
    if (!available) expect(gap?.reason).toContain(hierarchy.heldByV1.memory ?? "does not offer memory");
  },
);
