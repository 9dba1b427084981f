import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { CRIU_NEEDS, testCriu } from "../helpers/criu.js";
import { endProcess } from "../helpers/session.js";
import { record } from "./record.js";
import { ask, dropFromCache, generations, jumps, withProbe } from "./run.js";

const HELD = { posix: "held", ofd: "held", flock: "held" };

testNeeding(
  CRIU_NEEDS,
  "locks are held by a sibling where the restore repeats the flag, and lost in silence else",
  async () => {
    await withProbe(async ({ session, dumpIt, restoreIt }) => {
      const original = await ask(session.pid, session.upper, "locks");
      await dumpIt();
      const kept = await restoreIt("kept");
      const withFlag = await ask(kept.pid, kept.upper, "locks");
      const dropped = await restoreIt("dropped", { fileLocks: false });
      const withoutFlag = await ask(dropped.pid, dropped.upper, "locks");
      expect({ original, withFlag }).toEqual({ original: HELD, withFlag: HELD });
      expect(Object.values(withoutFlag)).toContain("lost");
      record({ locks: { original, withFlag, withoutFlag } }, (await testCriu()).version);
    });
  },
);

testNeeding(
  CRIU_NEEDS,
  "a sibling's realtime jumps by all the time that its dump lay; monotonic and boottime do not",
  async () => {
    const pauseMs = 2_000;
    await withProbe(async ({ session, dumpIt, restoreIt }) => {
      await dumpIt({ leaveRunning: true });
      const original = await jumps(session.pid, session.upper);
      await sleep(pauseMs);
      const { pid, upper } = await restoreIt("sibling");
      const sibling = await jumps(pid, upper);
      const beyond = (clock: string) => (sibling.realtime ?? 0) - (sibling[clock] ?? 0);
      expect(sibling.realtime).toBeGreaterThan(pauseMs);
      for (const clock of ["monotonic", "boottime", "timer-monotonic", "timer-boottime"])
        expect(beyond(clock), clock).toBeGreaterThan(pauseMs * 0.9);
      for (const clock of ["monotonic", "boottime"]) expect(sibling[clock], clock).toBeGreaterThan(0);
      record({ clocks: { pauseMs, original, sibling } }, (await testCriu()).version);
    });
  },
);

testNeeding(
  [...CRIU_NEEDS, "program:dd", "program:fincore"],
  "a restore whose images and layers are in no cache gives the same sibling",
  async () => {
    await withProbe(async ({ dumpIt, restoreIt, images, layer }) => {
      await dumpIt();
      const warm = await restoreIt("warm");
      // What a process has mapped stays in the cache.
      await endProcess(warm.pid);
      const dropped = [await dropFromCache(images), await dropFromCache(layer)];
      const total = (when: "before" | "after") => dropped.reduce((sum, one) => sum + one[when], 0);
      expect(total("after")).toBeLessThan(total("before"));
      const cold = await restoreIt("cold");
      expect(await ask(cold.pid, cold.upper, "locks")).toEqual(HELD);
      record(
        {
          cold: {
            cachedBefore: total("before"),
            cachedAfter: total("after"),
            warmMs: warm.totalMs,
            coldMs: cold.totalMs,
          },
        },
        (await testCriu()).version,
      );
    });
  },
);

testNeeding(
  CRIU_NEEDS,
  "eight generations, each dumped from the sibling before it, stay as large as the first",
  async () => {
    const chain = await generations(8);
    const [first] = chain;
    for (const { pages, images, upper } of chain) {
      expect(Math.abs(pages - (first?.pages ?? 0))).toBeLessThan((first?.pages ?? 0) * 0.2);
      expect(Math.abs(images - (first?.images ?? 0))).toBeLessThan((first?.images ?? 0) * 0.2);
      expect(upper).toBeLessThanOrEqual((first?.upper ?? 0) * 1.2);
    }
    record({ generations: chain }, (await testCriu()).version);
  },
  120_000,
);
