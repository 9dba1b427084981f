import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  controllerStatus,
  createGroup,
  enableControllers,
  openGroup,
  preflight,
  readHierarchy,
  setLimits,
  verifyMembership,
} from "../src/index.js";

const UNIT = "/system.slice/vm.service";

test("under systemd the hierarchy is found from within a delegated unit", async () => {
  expect(await readHierarchy()).toMatchObject({ mode: "v2", ownPath: UNIT });
});

test("in a delegated unit limits come into force once the unit's own processes have moved into a leaf, and before that it is said so", async () => {
  const hierarchy = await readHierarchy();
  const parts = UNIT.split("/").slice(1);
  const question = { hierarchy, path: [...parts, "session"], controller: "memory" };
  const file = join(hierarchy.mountPoint ?? "", UNIT, "cgroup.subtree_control");
  expect(controllerStatus(question)).toMatchObject({
    available: true,
    delegated: true,
    enabled: false,
    stop: { errno: "EBUSY", file, remedy: "move its processes into a child group first" },
  });
  const items = await preflight({ parent: `${UNIT.slice(1)}`, required: ["memory"] });
  expect(items.find(({ name }) => name === "cgroup2 memory")).toMatchObject({ status: "blocker" });

  const unit = await openGroup({ hierarchy, path: parts });
  const leaf = await createGroup({ hierarchy, path: [...parts, "own"] });
  for (const pid of unit.procs()) leaf.add(pid);
  const reported = readFileSync("/proc/self/cgroup", "utf8");
  expect(await verifyMembership({ group: leaf, pid: process.pid, reported })).toMatchObject({ ok: true });

  const session = await createGroup({ hierarchy, path: question.path });
  await enableControllers(session, ["memory", "pids", "cpu"]);
  expect(controllerStatus(question)).toEqual({ available: true, delegated: true, enabled: true });
  const limits = { memoryMaxBytes: 1 << 26, pidsMax: 40, cpuMax: { quotaUsec: 50_000 } };
  expect(await setLimits(session, limits)).toMatchObject({ enforced: true });
  await session.remove();
});
