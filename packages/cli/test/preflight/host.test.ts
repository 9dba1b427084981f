import { expect, test } from "vitest";
import { hostItems } from "../../src/preflight/host.js";
import { type Machine, thisMachine } from "../../src/preflight/machine.js";
import { machineWith } from "../support/machine.js";

const MIB = 1024 * 1024;
const REQUEST = { home: "/var/lib/drums", siblings: 3 };

function wanting(changes: Partial<Machine>): Record<string, string> {
  const items = hostItems(REQUEST, machineWith(changes)).filter(({ status }) => status !== "ok");
  for (const { remedy } of items) expect(remedy).toMatch(/\w/);
  return Object.fromEntries(items.map(({ name, status }) => [name, status]));
}

test("a machine with everything has nothing to mend", () => {
  expect(wanting({})).toEqual({});
});

test("another platform and another user than root forbid a start", () => {
  expect(wanting({ platform: "darwin arm64", uid: 501 })).toEqual({ platform: "blocker", root: "blocker" });
});

test("a missing program names its package, and forbids a start only where a session needs it", () => {
  const missing = (absent: string) => wanting({ program: (name) => (name === absent ? undefined : name) });
  expect(missing("qemu-storage-daemon")).toEqual({ "qemu-storage-daemon": "blocker" });
  expect(missing("mmdebstrap")).toEqual({ mmdebstrap: "gap" });
  const items = hostItems(REQUEST, machineWith({ program: () => undefined }));
  expect(items.find(({ name }) => name === "mke2fs")?.remedy).toBe("apt-get install e2fsprogs");
});

test("without FUSE or loop devices a start is forbidden, unless the kernel has NBD", () => {
  const exists = (present: readonly string[]) => (path: string) => present.includes(path);
  expect(wanting({ exists: exists([]) })).toEqual({ "fuse device": "blocker", "loop devices": "blocker" });
  expect(wanting({ exists: exists(["/sys/block/nbd0", "/dev/fuse"]) })).toEqual({ "loop devices": "gap" });
});

test.each([
  [100, "blocker"],
  [1000, "gap"],
])("%i MiB of disk are a %s", (free, status) => {
  expect(wanting({ freeBytes: () => free * MIB })).toEqual({ "disk space": status });
});

test.each([
  ["MemTotal: 8000000 kB\nMemAvailable:  100000 kB", "blocker"],
  ["MemTotal: 8000000 kB\nMemAvailable:  800000 kB", "gap"],
  [undefined, "gap"],
])("memory of %s is a %s", (meminfo, status) => {
  const read = (path: string) => (path === "/proc/meminfo" ? meminfo : "128");
  expect(wanting({ read })).toEqual({ memory: status });
});

test("more siblings want more memory, disk and inotify instances", () => {
  const few = machineWith({
    freeBytes: () => 2000 * MIB,
    read: (path) => (path === "/proc/meminfo" ? "MemTotal: 8000000 kB\nMemAvailable: 1200000 kB" : "64"),
  });
  const gaps = (siblings: number) =>
    hostItems({ ...REQUEST, siblings }, few)
      .filter(({ status }) => status === "gap")
      .map(({ name }) => name);
  expect(gaps(1)).toEqual([]);
  expect(gaps(30)).toEqual(["disk space", "memory", "inotify instances"]);
});

test("this machine answers for a home that does not exist yet", () => {
  expect(thisMachine.freeBytes("/nowhere/at/all")).toBeGreaterThan(0);
  expect(thisMachine.read("/proc/self/nothing")).toBeUndefined();
  expect(thisMachine.program("sh")).toMatch(/\/sh$/);
  expect(thisMachine.program("drums-no-such-program")).toBeUndefined();
});
