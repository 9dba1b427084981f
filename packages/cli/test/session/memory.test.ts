import { expect, test } from "vitest";
import { identify } from "../../src/session/identity.js";
import { parseMemory, sessionMemory } from "../../src/session/memory.js";

const ROLLUP = `00400000-7ffc1234f000 ---p 00000000 00:00 0    [rollup]
Rss:                9000 kB
Pss:                5000 kB
Pss_Anon:           3000 kB
Pss_File:           1200 kB
Pss_Shmem:           800 kB
KSM:                2500 kB
`;
const STATUS = "Name:\tx\nVmPTE:\t      64 kB\nThreads:\t3\n";

test("a process's memory is told by its parts, with what the kernel keeps for it", () => {
  const KIB = 1024;
  expect(parseMemory(ROLLUP, STATUS)).toEqual({
    anonymousBytes: 3000 * KIB,
    sharedBytes: 800 * KIB,
    pageTableBytes: 64 * KIB,
    kernelStackBytes: 48 * KIB,
    ownBytes: (3000 + 800 + 64 + 48) * KIB,
    fileBytes: 1200 * KIB,
    mergedBytes: 2500 * KIB,
  });
});

test("a kernel without KSM merges nothing", () => {
  expect(parseMemory(ROLLUP.replace(/^KSM.*\n/m, ""), STATUS).mergedBytes).toBe(0);
});

test("this machine's own pid namespace has at least this process's memory", async () => {
  const own = await sessionMemory(await identify(process.pid));
  expect(own.anonymousBytes).toBeGreaterThan(process.memoryUsage().heapUsed / 4);
  expect(own.ownBytes).toBeGreaterThan(own.anonymousBytes);
});
