import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sys } from "@drums/nsexec";
import { expect, test } from "vitest";
import { createGroup, enableControllers, setLimits, verifyLimits, watchStats } from "../../src/index.js";
import { born, withLimited } from "../limited.js";

/** Doubles a string until nothing is left to take. */
const HOG = "a=0123456789abcdef; while :; do a=$a$a; done";
const MIB = 2 ** 20;

/** Runs `body` with a disk of its own, a loop device over a file in memory. */
async function withDisk(
  sizeBytes: number,
  body: (path: string, device: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "drums-disk-"));
  const file = join(folder, "disk");
  writeFileSync(file, "");
  truncateSync(file, sizeBytes);
  const backing = openSync(file, "r+");
  const loop = sys.loopAttach(backing, { readOnly: false });
  closeSync(backing);
  try {
    await body(loop.path, readFileSync(`/sys/block/${basename(loop.path)}/dev`, "utf8").trim());
  } finally {
    closeSync(loop.fd);
    sys.loopDetach(loop.path);
    rmSync(folder, { recursive: true });
  }
}

test("every limit is set and read back as the kernel states it, what it rounds included", async () => {
  await withDisk(MIB, async (_, device) => {
    const limits = {
      memoryMaxBytes: 100_000_001,
      memoryHighBytes: 90_000_000,
      memorySwapMaxBytes: 0,
      memoryOomGroup: true,
      pidsMax: 50,
      cpuMax: { quotaUsec: 30_000, periodUsec: 50_000 },
      cpuWeight: 37,
      cpusetCpus: [0],
      cpusetMems: [0],
      ioMax: { [device]: { readBytesPerSecond: MIB, writesPerSecond: 100 } },
      hugetlbMaxBytes: { "2MB": 5_000_000 },
    };
    await withLimited(limits, async (group) => {
      const { results, readBack } = await verifyLimits(group, limits);
      expect(readBack).toEqual({
        ...limits,
        memoryMaxBytes: 99_999_744,
        memoryHighBytes: 89_997_312,
        ioMax: {
          [device]: {
            readBytesPerSecond: MIB,
            writeBytesPerSecond: "max",
            readsPerSecond: "max",
            writesPerSecond: 100,
          },
        },
        hugetlbMaxBytes: { "2MB": 4_194_304 },
      });
      const rounded = results.filter((result) => result.rounded).map(({ name }) => name);
      expect(rounded).toEqual(["memoryMaxBytes", "memoryHighBytes", "hugetlbMaxBytes"]);
      // One limit after another is taken back, and each is missed by name.
      group.hierarchy.files.write(join(group.path, "cpu.max"), "max 50000");
      group.hierarchy.files.write(join(group.path, "io.max"), `${device} rbps=max`);
      const after = await verifyLimits(group, limits);
      expect(after.results.filter(({ enforced }) => !enforced).map(({ name }) => name)).toEqual([
        "cpuMax",
        "ioMax",
      ]);
    });
  });
});

test("a processor that a group above does not leave is reported as not in force", async () => {
  await withLimited({ cpusetCpus: [0] }, async (above) => {
    const group = await createGroup({ hierarchy: above.hierarchy, path: [...above.parts, "below"] });
    await enableControllers(group, ["cpuset"]);
    expect(await setLimits(group, { cpusetCpus: [1] })).toMatchObject({
      enforced: false,
      readBack: { cpusetCpus: [0] },
      reason: "cpuset.cpus.effective reads [0], asked for [1]",
    });
  });
});

test("memory.max kills inside the group, with memory.oom.group all of it, and the stream tells of it at once", async () => {
  const limits = { memoryMaxBytes: 32 * MIB, memorySwapMaxBytes: 0, memoryOomGroup: true };
  await withLimited(limits, async (group) => {
    await withLimited(limits, async (other) => {
      const [bystander, outsider] = [born(group, "exec sleep 1000"), born(other, "exec sleep 1000")];
      const stream = watchStats(group, { intervalMs: 600_000 });
      const greedy = born(group, HOG);
      for await (const { memoryEvents } of stream) if ((memoryEvents?.oomGroupKill ?? 0) > 0) break;
      for (const { exited } of [greedy, bystander]) expect(await exited).toMatchObject({ signal: "SIGKILL" });
      // The kernel counts the process that it chose once more with its group.
      expect(group.stats().memoryEvents).toMatchObject({ oomKill: 3, oomGroupKill: 1 });
      expect(group.stats().memoryPeakBytes).toBeLessThanOrEqual(32 * MIB);
      expect(other.procs()).toEqual([outsider.pid]);
      expect(other.stats().memoryEvents).toMatchObject({ oom: 0, oomKill: 0 });
    });
  });
});

test("pids.max refuses a process with EAGAIN and counts it", async () => {
  await withLimited({ pidsMax: 1 }, async (group) => {
    born(group, "exec sleep 1000");
    expect(() => born(group, "true")).toThrowError(expect.objectContaining({ code: "EAGAIN" }));
    expect(group.stats()).toMatchObject({ pidsCurrent: 1, pidsRefused: 1 });
  });
});

test("cpu.max holds within a tenth", async () => {
  await withLimited({ cpuMax: { quotaUsec: 40_000 } }, async (group) => {
    for (let busy = 0; busy < 2; busy++) born(group, "while :; do :; done");
    const used = () => ({ usec: group.stats().cpu?.usageUsec ?? 0, at: performance.now() });
    const before = used();
    await sleep(3000);
    const after = used();
    const processors = (after.usec - before.usec) / 1000 / (after.at - before.at);
    expect(Math.abs(processors - 0.4)).toBeLessThan(0.04);
    expect(group.stats().cpu?.throttledPeriods).toBeGreaterThan(10);
  });
});

test("io.max throttles the reads of a loop device to its bytes per second", async () => {
  await withDisk(16 * MIB, async (path, device) => {
    const read = `exec dd if=${path} of=/dev/null bs=64k iflag=direct`;
    const limits = { ioMax: { [device]: { readBytesPerSecond: 2 * MIB } } };
    await withLimited(limits, async (group) => {
      const began = performance.now();
      expect(await born(group, `${read} count=96`).exited).toMatchObject({ code: 0 });
      const bytesPerSecond = (6 * MIB) / ((performance.now() - began) / 1000);
      expect(bytesPerSecond).toBeLessThan(2.2 * MIB);
      expect(bytesPerSecond).toBeGreaterThan(1.2 * MIB);
      expect(group.stats().io?.[device]).toMatchObject({ readBytes: 6 * MIB, reads: 96 });
      // The same group without the limit reads more than twice as much in that time.
      await setLimits(group, { ioMax: { [device]: {} } });
      const unlimited = performance.now();
      expect(await born(group, `${read} count=192`).exited).toMatchObject({ code: 0 });
      expect(performance.now() - unlimited).toBeLessThan(6000);
    });
  });
});
