import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isDumpableDevice } from "../../src/audit/devices.js";
import { auditSession } from "../../src/index.js";
import { fakeProc } from "../helpers/fake-proc.js";

let proc: string;
beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), "drums-proc-"));
});
afterEach(() => rmSync(proc, { recursive: true, force: true }));

/** The rules that fire on one process with one descriptor. */
async function rulesOf(target: string, info = "pos:\t0\nflags:\t0100002\nmnt_id:\t100\n") {
  fakeProc(proc, [{ pid: 1000, ppid: 1, name: "it", innerPid: 1, fds: { 5: target }, fdinfo: { 5: info } }]);
  const audit = await auditSession({ initPid: 1000, proc });
  return audit.findings.map(({ rule, object }) => `${rule}: ${object}`);
}

test.each(["io_uring", "userfaultfd", "perf_event", "bpf-map", "bpf-prog", "landlock-ruleset"])(
  "an open %s is refused by name",
  async (kind) => {
    expect(await rulesOf(`anon_inode:[${kind}]`)).toEqual([`descriptor-anon: fd 5 anon_inode:[${kind}]`]);
  },
);

test.each([
  "anon_inode:[eventfd]",
  "anon_inode:[eventpoll]",
  "anon_inode:[timerfd]",
  "anon_inode:[signalfd]",
  "pipe:[12]",
  "/memfd:shm (deleted)",
  "/SYSV00000000 (deleted)",
])("%s passes", async (target) => {
  expect(await rulesOf(target)).toEqual([]);
});

test("the pidfd of a process passes, that of a thread does not", async () => {
  expect(await rulesOf("anon_inode:[pidfd]", "flags:\t02000002\n")).toEqual([]);
  rmSync(join(proc, "1000"), { recursive: true });
  expect(await rulesOf("anon_inode:[pidfd]", "flags:\t02000202\n")).toEqual([
    "descriptor-anon: fd 5 anon_inode:[pidfd] of a thread",
  ]);
});

test("a file on a mount that the session does not have is a leaked descriptor", async () => {
  expect(await rulesOf("/etc/passwd", "mnt_id:\t27\n")).toEqual([
    "descriptor-foreign-mount: fd 5 /etc/passwd",
  ]);
});

test("a descriptor that was closed meanwhile is passed over", async () => {
  expect(await rulesOf("/etc/passwd", "")).toEqual([]);
});

test("a watch on /proc or /sys is refused, one on the overlay passes with nfs_export", async () => {
  const info = (device: string) =>
    `inotify wd:1 ino:1 sdev:${device} mask:fff ignored_mask:0 fhandle-bytes:8 f_handle:00\n`;
  expect(await rulesOf("anon_inode:inotify", info("29"))).toEqual([
    "inotify-no-handle: fd 5 inotify on /proc",
  ]);
  rmSync(join(proc, "1000"), { recursive: true });
  expect(await rulesOf("anon_inode:inotify", info("28"))).toEqual([]);
});

test("memory devices, terminals and tun can be dumped, others cannot", () => {
  const device = (major: number, minor: number) => (major << 8) | minor;
  for (const [major, minor] of [
    [1, 3],
    [1, 9],
    [1, 11],
    [5, 0],
    [5, 2],
    [136, 4],
    [10, 200],
  ] as const)
    expect(isDumpableDevice(device(major, minor))).toBe(true);
  for (const [major, minor] of [
    [10, 229],
    [4, 0],
    [10, 237],
    [226, 0],
  ] as const)
    expect(isDumpableDevice(device(major, minor))).toBe(false);
});
