import { expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { watchStats } from "../src/index.js";
import { parseCpuStat, parseIoStat, parseMemoryEvents } from "../src/stats.js";
import { withGroup } from "./support.js";

test("memory.events is read with the counts of the OOM killer, of a kernel without group kills too", () => {
  const text = "low 0\nhigh 2\nmax 7\noom 3\noom_kill 1\n";
  expect(parseMemoryEvents(text)).toEqual({ low: 0, high: 2, max: 7, oom: 3, oomKill: 1 });
  expect(parseMemoryEvents(`${text}oom_group_kill 1\n`)).toMatchObject({ oomGroupKill: 1 });
});

test("io.stat is read by disk, and a disk that did nothing yet has a bare line", () => {
  expect(parseIoStat("7:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n8:0 \n")).toEqual({
    "7:0": { readBytes: 4096, writtenBytes: 0, reads: 1, writes: 0 },
    "8:0": { readBytes: 0, writtenBytes: 0, reads: 0, writes: 0 },
  });
});

test("cpu.stat is read with what cpu.max took, where the controller is enabled", () => {
  const times = "usage_usec 12\nuser_usec 8\nsystem_usec 4\n";
  expect(parseCpuStat(times)).toEqual({ usageUsec: 12, userUsec: 8, systemUsec: 4 });
  expect(parseCpuStat(`${times}nr_periods 9\nnr_throttled 5\nthrottled_usec 600\n`)).toMatchObject({
    throttledPeriods: 5,
    throttledUsec: 600,
  });
});

testNeeding(
  ["root", "cgroup2"],
  "a stream of statistics tells of an event before its interval is over, and ends with the group",
  async () => {
    await withGroup(async (group, start) => {
      const child = await start();
      const stream = watchStats(group, { intervalMs: 60_000 });
      expect((await stream.next()).value).toMatchObject({ pressure: expect.any(Object) });
      group.add(child.pid);
      expect((await stream.next()).done).toBe(false);
      const event = stream.next();
      await group.kill();
      expect((await event).done).toBe(false);
      await group.remove();
      expect((await stream.next()).done).toBe(true);
    });
  },
);

testNeeding(["root", "cgroup2"], "a stream comes at its interval, and ends by its signal", async () => {
  await withGroup(async (group) => {
    const abort = new AbortController();
    let seen = 0;
    for await (const _ of watchStats(group, { intervalMs: 5, signal: abort.signal }))
      if (++seen === 3) abort.abort();
    expect(seen).toBe(3);
  });
});
