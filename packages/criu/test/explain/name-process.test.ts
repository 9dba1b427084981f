import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nameDumped, nameRestored, processText } from "../../src/explain/name-process.js";
import { explainFailure } from "../../src/index.js";
import { fakeProc } from "../helpers/fake-proc.js";

let proc: string;
beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), "drums-name-"));
});
afterEach(() => rmSync(proc, { recursive: true, force: true }));

const FDS = {
  3: "/tmp/big (deleted)",
  5: "anon_inode:[userfaultfd]",
  6: "anon_inode:[eventfd]",
  7: "/srv/secret",
  8: "socket:[43874]",
};

test.each([
  ["Can't dump file 5 of that type [600] (unknown anon_inode:[userfaultfd])", 5],
  ["Can't lookup mount=29 for fd=7 path=/srv/secret", 7],
  ["Can't lookup mount=29 for fd=-10 path=/srv/secret", 7],
  ["Can't dump ghost file /tmp/big of 2097152 size, increase limit", 3],
  ["unix: Unix socket 43874 not found", 8],
  ["unix: Non-empty write queue on an in-flight socket 0xab62", 8],
  ["inet: In-flight connection (l) for ab62", 8],
  ["inet: Unsupported proto 262 for socket ab62", 8],
  ["tty: ctty inheritance detected sid/pgrp 3 (ctty pid_real 1001 pty pid_real 1000)", undefined],
  ["Unseizable non-zombie 1001 found, state S, err -1/1", undefined],
  ["Can't dump nested pid namespace for 1001", undefined],
])("%s is laid to its process by name", (message, fd) => {
  fakeProc(proc, [
    { pid: 1000, ppid: 1, name: "init" },
    { pid: 1001, ppid: 1000, name: "xterm", fds: FDS },
  ]);
  const explanation = explainFailure(`(00.1) Error (criu/x.c:1): ${message}`, { phase: "dump" });
  const { process } = nameDumped(explanation, { initPid: 1000, proc });
  expect(process).toEqual({ name: "xterm", pid: 1001, innerPid: 2, ...(fd === undefined ? {} : { fd }) });
});

test("of two that have the like open the one is named at which the dump ended", () => {
  const fds = { 4: "anon_inode:[userfaultfd]" };
  fakeProc(proc, [
    { pid: 1000, ppid: 1, name: "init", fds },
    { pid: 1001, ppid: 1000, name: "xterm", fds },
  ]);
  const ended = "Error (criu/cr-dump.c:1681): Dump files (pid: 1001) failed with -1";
  const nameOf = (line: string) =>
    nameDumped(explainFailure(`${line}\n${ended}`, { phase: "dump" }), { initPid: 1000, proc }).process;
  const type =
    "Error (criu/files-ext.c:94): Can't dump file 4 of that type [600] (anon anon_inode:[userfaultfd])";
  expect(nameOf(type)).toEqual({ name: "xterm", pid: 1001, innerPid: 2, fd: 4 });
  const ring = "Error (criu/parasite-syscall.c:280): Can't retrieve FDs from socket";
  expect(nameOf(ring)).toEqual({ name: "xterm", pid: 1001, innerPid: 2 });
  expect(nameOf("Error (criu/x.c:1): never seen")).toEqual({ name: "xterm", pid: 1001, innerPid: 2 });
});

test.each([
  "Can't dump file 6 of that type [600] (unknown anon_inode:[userfaultfd])",
  "unix: Unix socket 1 not found",
  "Unseizable non-zombie 4 found, state S, err -1/1",
  "never seen",
])("%s is laid to nobody", (message) => {
  fakeProc(proc, [{ pid: 1000, ppid: 1, name: "init", fds: FDS }]);
  const explanation = explainFailure(`(00.1) Error (criu/x.c:1): ${message}`, { phase: "dump" });
  expect(nameDumped(explanation, { initPid: 1000, proc })).toEqual(explanation);
});

test("a tree that has ended meanwhile is laid to nobody", () => {
  const explanation = explainFailure("Error (criu/x.c:1): unix: Unix socket 1 not found", { phase: "dump" });
  expect(nameDumped(explanation, { initPid: 1000, proc })).toEqual(explanation);
});

test("a restore whose images are not there is explained without a name", async () => {
  const explanation = explainFailure("     12: Error (criu/x.c:1): never seen", { phase: "restore" });
  expect(await nameRestored(explanation, { imagesDir: proc })).toEqual(explanation);
});

test("a process is written with what is known of it", () => {
  expect(processText({ name: "xterm", pid: 4711, innerPid: 12, fd: 7 })).toBe(
    "xterm (pid 4711 on the host, 12 inside, descriptor 7)",
  );
  expect(processText({ name: "sh", innerPid: 1 })).toBe("sh (pid 1 inside)");
});
