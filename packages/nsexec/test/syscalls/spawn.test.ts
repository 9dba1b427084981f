import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { SyscallError } from "../../src/errors.js";
import { readNamespaces } from "../../src/proc/index.js";
import { clone3Exec, pidfdSendSignal, pidfdWait } from "../../src/syscalls/index.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nsexec-spawn-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a shell script with its output in a file, and returns the output and the status. */
async function shell(script: string, extra: Partial<Parameters<typeof clone3Exec>[0]> = {}) {
  const out = join(folder, "out");
  const fd = openSync(out, "w");
  const { pidfd } = clone3Exec({
    file: "/bin/sh",
    argv: ["sh", "-c", script],
    env: { PATH: "/usr/bin:/bin" },
    fds: [{ source: fd, target: 1 }],
    ...extra,
  });
  closeSync(fd);
  const status = await pidfdWait(pidfd);
  closeSync(pidfd);
  return { status, text: readFileSync(out, "utf8") };
}

test("a child has exactly the descriptors, environment and arguments that it was given", async () => {
  const held = openSync("/dev/null", "r");
  const { text, status } = await shell("", {
    argv: ["sh", "-c", 'ls /proc/$$/fd; env | sort; echo "$1"', "sh", "an argument"],
    env: { ONLY: "this" },
    fds: [
      { source: held, target: 7 },
      { source: openSync(join(folder, "out"), "w"), target: 1 },
    ],
  });
  closeSync(held);
  expect(status).toEqual({ code: 0 });
  expect(text).toBe("1\n7\nONLY=this\nPWD=".concat(process.cwd(), "\nan argument\n"));
});

test("sources and targets may overlap in any order", async () => {
  writeFileSync(join(folder, "a"), "A");
  writeFileSync(join(folder, "b"), "B");
  const a = openSync(join(folder, "a"), "r");
  const b = openSync(join(folder, "b"), "r");
  const out = openSync(join(folder, "out"), "w");
  const { text } = await shell(`cat /proc/self/fd/${a} /proc/self/fd/${b}`, {
    fds: [
      { source: a, target: b },
      { source: b, target: a },
      { source: out, target: 1 },
    ],
  });
  for (const fd of [a, b, out]) closeSync(fd);
  expect(text).toBe("BA");
});

test("signals that Node ignores or blocks are at their defaults in the child", async () => {
  const { text } = await shell("grep -E 'Sig(Blk|Ign)' /proc/self/status");
  expect(text).toBe("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
});

test("a program that does not exist fails at the call, with the child's own errno", () => {
  const missing = join(folder, "missing");
  const failed = () => clone3Exec({ file: missing, argv: ["missing"] });
  expect(failed).toThrow(SyscallError);
  expect(failed).toThrow(expect.objectContaining({ code: "ENOENT", syscall: "execve", path: missing }));
});

test("a bad working folder and a bad descriptor are told apart from a bad program", () => {
  expect(() => clone3Exec({ file: "/bin/true", argv: ["true"], cwd: "/no/such" })).toThrow(
    expect.objectContaining({ code: "ENOENT", syscall: "chdir", path: "/no/such" }),
  );
  expect(() => clone3Exec({ file: "/bin/true", argv: ["true"], fds: [{ source: 9999, target: 0 }] })).toThrow(
    expect.objectContaining({ code: "EBADF", syscall: "dup2" }),
  );
});

test("a signal ends the child and is its status", async () => {
  const { pidfd } = clone3Exec({ file: "/bin/sleep", argv: ["sleep", "1000"], newSession: true });
  pidfdSendSignal(pidfd, "SIGTERM");
  expect(await pidfdWait(pidfd)).toEqual({ signal: "SIGTERM" });
  expect(() => pidfdSendSignal(pidfd, 0)).toThrow(expect.objectContaining({ code: "ESRCH" }));
  closeSync(pidfd);
});

testNeeding(["root"], "new namespaces are the child's alone", async () => {
  const before = await readNamespaces("self");
  const { pid, pidfd } = clone3Exec({
    file: "/bin/sleep",
    argv: ["sleep", "1000"],
    namespaces: ["mnt", "pid", "uts", "ipc", "net", "cgroup"],
  });
  const child = await readNamespaces(pid);
  pidfdSendSignal(pidfd, "SIGKILL");
  expect(await pidfdWait(pidfd)).toEqual({ signal: "SIGKILL" });
  closeSync(pidfd);
  const same = (await readNamespaces("self")) satisfies typeof before;
  expect(same).toEqual(before);
  for (const kind of ["mnt", "pid", "uts", "ipc", "net", "cgroup"] as const)
    expect(child[kind], kind).not.toEqual(before[kind]);
  expect(child.user).toEqual(before.user);
});
