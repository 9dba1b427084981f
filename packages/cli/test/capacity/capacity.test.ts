import { describe, expect, test } from "vitest";
import { assertFits, capacityOf, type SiblingNeeds } from "../../src/capacity/index.js";
import { machineWith } from "../support/machine.js";

const MIB = 2 ** 20;
const NEEDS: SiblingNeeds = {
  processes: 8,
  threads: 60,
  openFiles: 300,
  inotifyInstances: 8,
  inotifyWatches: 100,
  memoryBytes: 200 * MIB,
  diskBytes: 5 * MIB,
  inotifyUid: 0,
};

const FILES: Readonly<Record<string, string>> = {
  "/proc/meminfo": "MemTotal:       8388608 kB\nMemAvailable:   4194304 kB\n",
  "/proc/loadavg": "0.50 0.40 0.30 1/244 4711\n",
  "/proc/sys/fs/file-nr": "700\t0\t100000\n",
  "/proc/sys/fs/file-max": "100000\n",
  "/proc/sys/fs/inotify/max_user_instances": "128\n",
  "/proc/sys/fs/inotify/max_user_watches": "100000\n",
  "/proc/sys/kernel/pid_max": "32768\n",
  "/proc/sys/kernel/threads-max": "60000\n",
};

function capacity(changes: Readonly<Record<string, string>> = {}, needs = NEEDS) {
  const files = { ...FILES, ...changes };
  const machine = machineWith({
    read: (path) => files[path],
    inotifyUse: () => ({ instances: 16, watches: 200 }),
  });
  return capacityOf(needs, { home: "/var/lib/drums", machine });
}

const fitsBy = (found: ReturnType<typeof capacity>) =>
  Object.fromEntries(found.resources.map(({ name, fits }) => [name, fits]));

describe("the number of siblings that fit", () => {
  test("is that of what runs out first, each limit counted beside what is taken", () => {
    const found = capacity();
    expect(found.fits).toBe((128 - 16) / 8);
    expect(found.resources[0]?.name).toBe("inotify instances");
    expect(fitsBy(found)).toEqual({
      "inotify instances": 14,
      "inotify watches": 998,
      pids: Math.floor((32768 - 244 - 256) / 60),
      threads: Math.floor((60000 - 244 - 256) / 60),
      "open files": Math.floor((100000 - 700 - 256) / 300),
      memory: Math.floor((4096 - 8192 / 20) / 200),
      disk: Math.floor((50 * 1024 - 256) / 5),
    });
  });

  test("is not limited by what a sibling takes none of, or the machine has no word on", () => {
    const none = { ...NEEDS, inotifyInstances: 0 };
    const found = capacity({ "/proc/sys/fs/file-max": "", "/proc/meminfo": "" }, none);
    expect(fitsBy(found)).toMatchObject({
      "inotify instances": Number.POSITIVE_INFINITY,
      "open files": Number.POSITIVE_INFINITY,
      memory: Number.POSITIVE_INFINITY,
    });
  });

  test("is none where more is taken than there is", () => {
    expect(capacity({ "/proc/sys/fs/inotify/max_user_instances": "8" }).fits).toBe(0);
  });
});

test("the remedy is exact: with it so many fit, and not one more", () => {
  const [first] = capacity().resources;
  const [, limit = ""] =
    /^sysctl fs\.inotify\.max_user_instances=(\d+)$/.exec(first?.remedy(100) ?? "") ?? [];
  const mended = capacity({ "/proc/sys/fs/inotify/max_user_instances": limit });
  expect(fitsBy(mended)["inotify instances"]).toBe(100);
});

test("what the kernel cannot give is not advised", () => {
  const pids = capacity().resources.find(({ name }) => name === "pids");
  expect(pids?.remedy(100)).toBe("sysctl kernel.pid_max=6500");
  expect(pids?.remedy(100_000)).toContain("at most 4194304");
});

test("more than fit are refused with every limit that they meet", () => {
  expect(() => assertFits(capacity(), { checkpoint: "c", count: 14 })).not.toThrow();
  const refuse = () => assertFits(capacity(), { checkpoint: "c", count: 20 });
  expect(refuse).toThrow(
    expect.objectContaining({
      code: "NO_ROOM",
      exitCode: 3,
      what: "20 siblings of c do not fit: there is room for 14",
      hint: expect.stringMatching(/^sysctl fs\.inotify\.max_user_instances=176; free 313\.6 MiB of memory/),
    }),
  );
});
