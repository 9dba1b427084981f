import { readHierarchy, whyUnavailable } from "@drums/cgroup2";
import { expect, test } from "vitest";
import { groupLimits } from "../../src/session/limits.js";
import { runDrums } from "../support/run-drums.js";
import { withTestHome } from "../support/test-home.js";

test("limits become control files' own values: swap goes with memory, processors are a quota", () => {
  expect(groupLimits({ memoryMaxBytes: 1 << 20, cpus: 1.5, pidsMax: 9 })).toEqual({
    memoryMaxBytes: 1 << 20,
    memorySwapMaxBytes: 0,
    cpuMax: { quotaUsec: 150_000, periodUsec: 100_000 },
    pidsMax: 9,
  });
  expect(groupLimits({})).toEqual({});
});

for (const command of ["up", "probe"] as const)
  test(`drums ${command} refuses limits that cannot be in force here with exit status 3 before it looks at the image, and takes a word that they need not`, async () => {
    const missing = whyUnavailable(await readHierarchy(), "memory");
    await withTestHome(async ({ path }) => {
      const argv = [command, "--image", "/nowhere.qcow2", "--memory-max", "512m", "--home", path];
      const strict = await runDrums(...argv);
      const lenient = await runDrums(...argv, "--allow-unlimited");
      const told = strict.stdout + strict.stderr;
      if (missing === undefined) expect(told).toContain("/nowhere.qcow2");
      else {
        expect(strict.status).toBe(3);
        expect(told).toContain(missing.reason);
        expect(told).toContain("--allow-unlimited");
      }
      expect(lenient.stdout + lenient.stderr).toContain("/nowhere.qcow2");
      expect(lenient.status).not.toBe(3);
    });
  });

test("limits that are no limits are refused with a word on what to give", async () => {
  for (const [option, value] of [
    ["--cpu-max", "0"],
    ["--pids-max", "0"],
    ["--memory-max", "12"],
  ] as const) {
    const run = await runDrums("up", "--image", "/nowhere.qcow2", option, value);
    expect(run).toMatchObject({ status: 2, stderr: expect.stringContaining("give a ") });
  }
});
