import { join } from "node:path";
import { expect, test } from "vitest";
import {
  controllersFor,
  createGroup,
  enableControllers,
  type Limits,
  setLimits,
  verifyLimits,
} from "../../src/index.js";
import { type FakeKernel, withFake } from "../fake-kernel.js";

// All of this runs on a fake kernel, as limits need controllers that not every machine has.

async function limited(kernel: FakeKernel, limits: Limits) {
  const group = await createGroup({ hierarchy: await kernel.hierarchy(), path: ["drums", "one"] });
  await enableControllers(group, controllersFor(limits));
  return { group, report: await setLimits(group, limits) };
}

test("limits are written, read back and reported in force", async () => {
  await withFake(async (kernel) => {
    const limits = {
      memoryMaxBytes: 1 << 30,
      pidsMax: 512,
      cpuMax: { quotaUsec: 50_000, periodUsec: 100_000 },
    };
    const { report } = await limited(kernel, limits);
    expect(report.enforced).toBe(true);
    expect(report.reason).toBeUndefined();
    expect(report.readBack).toEqual(limits);
  });
});

test("the kernel's rounding down to pages is in force and shown", async () => {
  await withFake(async (kernel) => {
    const { report } = await limited(kernel, { memoryMaxBytes: 1_000_000 });
    expect(report).toMatchObject({ enforced: true, readBack: { memoryMaxBytes: 999_424 } });
  });
});

test("no limit is the kernel's word max, and cpu.max has a default period", async () => {
  await withFake(async (kernel) => {
    const { report } = await limited(kernel, { memoryMaxBytes: "max", cpuMax: { quotaUsec: "max" } });
    expect(report.readBack).toEqual({
      memoryMaxBytes: "max",
      cpuMax: { quotaUsec: "max", periodUsec: 100_000 },
    });
    expect(kernel.writes).toContain("drums/one/cpu.max max 100000");
  });
});

test("a value that reads back as another is not in force", async () => {
  await withFake(async (kernel) => {
    const group = await createGroup({ hierarchy: await kernel.hierarchy(), path: ["drums", "one"] });
    await enableControllers(group, ["pids"]);
    kernel.ignore = join(group.path, "pids.max");
    const report = await setLimits(group, { pidsMax: 7 });
    expect(report).toMatchObject({ enforced: false, readBack: { pidsMax: "max" } });
    expect(report.reason).toContain("pids.max");
  });
});

test("a controller that is not enabled above is named as the reason, with the first group that does not hand it down", async () => {
  await withFake(async (kernel) => {
    const group = await createGroup({ hierarchy: await kernel.hierarchy(), path: ["drums", "one"] });
    const report = await setLimits(group, { memoryMaxBytes: 4096, pidsMax: 1 });
    expect(report.enforced).toBe(false);
    const file = join(kernel.root, "cgroup.subtree_control");
    expect(report.reason).toBe(
      `the memory controller is not enabled in ${file}; the pids controller is not enabled in ${file}`,
    );
    expect(kernel.writes).toEqual([]);
  });
});

test("a control file that this kernel lacks is named as the reason", async () => {
  await withFake(async (kernel) => {
    const { report } = await limited(kernel, { memorySwapMaxBytes: 0 });
    expect(report).toMatchObject({ enforced: false, reason: "this kernel has no memory.swap.max" });
  });
});

test("a kernel's refusal of a value is thrown with its errno", async () => {
  await withFake(async (kernel) => {
    const group = await createGroup({ hierarchy: await kernel.hierarchy(), path: ["drums", "one"] });
    await enableControllers(group, ["cpu"]);
    kernel.refuse = { file: join(group.path, "cpu.weight"), errno: "ERANGE" };
    await expect(setLimits(group, { cpuWeight: 99_999 })).rejects.toMatchObject({ errno: "ERANGE" });
  });
});

test.each<Limits>([
  { memoryMaxBytes: -1 },
  { pidsMax: 1.5 },
  { cpuMax: { quotaUsec: Number.NaN } },
  { cpuMax: { quotaUsec: 1000, periodUsec: 0 } },
])("%j is no limit and nothing is written", async (limits) => {
  await withFake(async (kernel) => {
    const group = await createGroup({ hierarchy: await kernel.hierarchy(), path: ["drums", "one"] });
    await enableControllers(group, controllersFor(limits));
    kernel.writes.length = 0;
    await expect(setLimits(group, { pidsMax: 1, ...limits })).rejects.toMatchObject({ code: "BAD_LIMIT" });
    expect(kernel.writes).toEqual([]);
  });
});

test("limits name the controllers they need, each once", () => {
  expect(controllersFor({ memoryMaxBytes: 1, memoryHighBytes: 1, cpuWeight: 1 })).toEqual(["memory", "cpu"]);
  expect(controllersFor({})).toEqual([]);
});

test("limits that another took back are not in force when they are verified", async () => {
  await withFake(async (kernel) => {
    const limits = { memoryMaxBytes: 1 << 20, pidsMax: 9 };
    const { group } = await limited(kernel, limits);
    expect(await verifyLimits(group, limits)).toMatchObject({ enforced: true, readBack: limits });
    group.hierarchy.files.write(join(group.path, "pids.max"), "max");
    expect(await verifyLimits(group, limits)).toMatchObject({
      enforced: false,
      reason: 'pids.max reads "max", asked for 9',
    });
  });
});
