import { expect, test } from "vitest";
import { parseNumbers } from "../../src/limits/cpuset.js";
import { controllersFor, type Limits, settingsOf } from "../../src/limits/limits.js";

/** What would be written, file by file. */
const written = (limits: Limits) =>
  settingsOf(limits).map(({ limit, asked }) => `${limit.file}: ${limit.format(asked)}`);

test("io.max is written a disk at a time, and what is left out is not limited", () => {
  const limits = { ioMax: { "7:0": { readBytesPerSecond: 1 << 20 }, "8:16": { writesPerSecond: 50 } } };
  expect(written(limits)).toEqual([
    "io.max: 7:0 rbps=1048576 wbps=max riops=max wiops=max",
    "io.max: 8:16 rbps=max wbps=max riops=max wiops=50",
  ]);
  const text = "8:16 rbps=max wbps=max riops=max wiops=50\n7:0 rbps=1048576 wbps=max riops=max wiops=max\n";
  for (const { limit, asked } of settingsOf(limits)) expect(limit.holds(asked, limit.parse(text))).toBe(true);
  // A disk without a line has no limit.
  for (const { limit, asked } of settingsOf(limits))
    expect(limit.holds(asked, limit.parse("\n"))).toBe(false);
});

test("processors are written as a list, and what is in force is what the groups above leave", () => {
  const [cpus] = settingsOf({ cpusetCpus: [3, 0, 1, 3] });
  expect(cpus?.limit).toMatchObject({ file: "cpuset.cpus", statedIn: "cpuset.cpus.effective" });
  expect(cpus?.limit.format([3, 0, 1, 3])).toBe("0,1,3");
  expect(cpus?.limit.holds([3, 0, 1, 3], parseNumbers("0-1,3\n"))).toBe(true);
  expect(cpus?.limit.holds([3, 0, 1, 3], parseNumbers("0-1\n"))).toBe(false);
  expect(parseNumbers("\n")).toEqual([]);
});

test("huge pages have a file for each size and are rounded down to such pages", () => {
  const [huge] = settingsOf({ hugetlbMaxBytes: { "2MB": 5_000_000 } });
  expect(huge?.limit.file).toBe("hugetlb.2MB.max");
  expect(huge?.limit.holds(5_000_000, huge.limit.parse("4194304\n"))).toBe(true);
  expect(huge?.limit.holds(5_000_000, huge.limit.parse("2097152\n"))).toBe(false);
});

test("misc.max is written a resource at a time", () => {
  const [misc] = settingsOf({ miscMax: { sev: 3 } });
  expect(misc?.limit.format(3)).toBe("sev 3");
  expect(misc?.limit.parse("sev_es 9\nsev 3\n")).toBe(3);
});

test("each of them names its controller", () => {
  const limits = {
    memoryOomGroup: true,
    cpusetMems: [0],
    ioMax: { "7:0": {} },
    hugetlbMaxBytes: { "2MB": 0 },
    miscMax: { sev: 1 },
  };
  expect(controllersFor(limits)).toEqual(["memory", "cpuset", "io", "hugetlb", "misc"]);
});

test.each<[string, Limits]>([
  ["a name of a disk in place of its numbers", { ioMax: { loop0: {} } }],
  ["a rate of nothing", { ioMax: { "7:0": { readBytesPerSecond: 0 } } }],
  ["no processor", { cpusetCpus: [] }],
  ["a processor between two", { cpusetCpus: [0.5] }],
  ["a size of pages without a unit", { hugetlbMaxBytes: { "2048": 1 } }],
  ["a resource that leads to another line", { miscMax: { "sev 1\nsev_es": 1 } }],
])("%s is no limit", (_, limits) => {
  expect(() => written(limits)).toThrowError(expect.objectContaining({ code: "BAD_LIMIT" }));
});
