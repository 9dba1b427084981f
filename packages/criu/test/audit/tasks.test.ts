import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { assertPassed, auditSession, RULES, severityFor } from "../../src/index.js";
import { type FakeTask, fakeProc } from "../helpers/fake-proc.js";

let proc: string;
beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), "drums-proc-"));
});
afterEach(() => rmSync(proc, { recursive: true, force: true }));

const INIT: FakeTask = { pid: 1000, ppid: 1, name: "drums-init", innerPid: 1 };
const CHILD: FakeTask = { pid: 1001, ppid: 1000, name: "xterm" };

/** The rules that fire on a session of these tasks, each with its object. */
async function findings(tasks: readonly FakeTask[], files: Record<string, string> = {}) {
  fakeProc(proc, tasks, files);
  const audit = await auditSession({ initPid: 1000, proc });
  return audit.findings.map(({ rule, object, process }) => [rule, object, process?.name]);
}

test("a plain tree has no findings, and its facts name every process", async () => {
  fakeProc(proc, [INIT, CHILD]);
  const audit = await auditSession({ initPid: 1000, proc });
  expect(audit).toMatchObject({ verdict: "pass", findings: [] });
  expect(audit.facts.processes).toEqual([
    { pid: 1000, innerPid: 1, name: "drums-init" },
    { pid: 1001, innerPid: 2, name: "xterm" },
  ]);
});

test("a traced process is named with its tracer", async () => {
  expect(await findings([INIT, { ...CHILD, tracer: 55 }])).toEqual([["task-traced", "by pid 55", "xterm"]]);
});

test("a namespace of its own is refused by kind, save mount and net", async () => {
  const namespaces = { user: "user:[2]", mnt: "mnt:[2]" };
  expect(await findings([INIT, { ...CHILD, namespaces }])).toEqual([
    ["namespace-nested", "user namespace user:[2]", "xterm"],
  ]);
});

test("a net namespace of its own is refused only where the dump leaves net namespaces out", async () => {
  fakeProc(proc, [INIT, { ...CHILD, namespaces: { net: "net:[2]" } }]);
  const audit = await auditSession({ initPid: 1000, proc });
  expect(audit.findings).toMatchObject([{ rule: "namespace-net", option: { emptyNet: false } }]);
  expect((await auditSession({ initPid: 1000, proc, flags: { emptyNet: false } })).findings).toEqual([]);
});

test("a session leader that has ended passes on the default version, and is refused on 4.1.1", async () => {
  fakeProc(proc, [INIT, { ...CHILD, session: 1800 }]);
  expect((await auditSession({ initPid: 1000, proc })).findings).toEqual([]);
  const old = await auditSession({ initPid: 1000, proc, criuVersion: "4.1.1" });
  expect(old).toMatchObject({ verdict: "refuse", findings: [{ rule: "task-ended" }] });
});

test("a rule of newer kernels is silent on an older one", () => {
  const ground = { criuVersion: "4.1.1" };
  expect(severityFor(RULES["socket-passcred"], { ...ground, kernel: "6.18.4-amd64" })).toBe("refuses");
  expect(severityFor(RULES["socket-passcred"], { ...ground, kernel: "6.12.5-amd64" })).toBe("passes");
  expect(severityFor(RULES["socket-passcred"], { kernel: "6.18.4" })).toBe("passes");
});

test("a namespace made for children to come is refused too", async () => {
  const namespaces = { pid_for_children: "pid:[2]" };
  expect(await findings([INIT, { ...CHILD, namespaces }])).toEqual([
    ["namespace-nested", "pid_for_children namespace pid:[2]", "xterm"],
  ]);
});

test("a process entered from outside is found, though it is in no tree of init's", async () => {
  const outsider: FakeTask = { pid: 1500, ppid: 1, name: "bash" };
  const other: FakeTask = { pid: 1600, ppid: 1, name: "elsewhere", namespaces: { pid: "pid:[9]" } };
  expect(await findings([INIT, outsider, other])).toEqual([["task-outside-tree", "pid 1500 bash", "bash"]]);
});

test("a terminal session whose leader lives outside is refused, one whose leader has ended is not", async () => {
  const leader: FakeTask = { pid: 1700, ppid: 1, name: "sshd", namespaces: { pid: "pid:[9]" } };
  expect(
    await findings([INIT, leader, { ...CHILD, session: 1700 }, { ...CHILD, pid: 1002, session: 1800 }]),
  ).toEqual([["task-leader-outside", "terminal session 1700", "xterm"]]);
});

test("a terminal session whose leader lives in an outer pid namespace, which shows as 0 here, is refused", async () => {
  expect(await findings([INIT, { ...CHILD, session: 0 }])).toEqual([
    ["task-leader-outside", "a terminal session of an outer pid namespace", "xterm"],
  ]);
});

test("an init that has ended is an error, not an empty audit", async () => {
  fakeProc(proc, []);
  await expect(auditSession({ initPid: 1000, proc })).rejects.toMatchObject({ code: "DUMP_FAILED" });
  await expect(auditSession({ initPid: 1000, proc, onlyMountTable: true })).rejects.toMatchObject({
    code: "DUMP_FAILED",
  });
});

test("a refused audit says in one error what, who, and what to do", async () => {
  fakeProc(proc, [INIT, { ...CHILD, tracer: 55 }]);
  const audit = await auditSession({ initPid: 1000, proc });
  expect(() => assertPassed(audit)).toThrowError(
    expect.objectContaining({
      code: "AUDIT_REFUSED",
      message: expect.stringContaining("by pid 55 (xterm, pid 2)"),
      hint: "Detach the tracer",
    }),
  );
});
