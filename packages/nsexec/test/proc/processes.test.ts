import { closeSync, readSync } from "node:fs";
import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { spawnNative } from "../../src/child.js";
import { listPidNamespace, listProcesses, parseCmdline, readStartTime } from "../../src/proc/index.js";
import { socketpairSeqpacket } from "../../src/syscalls/index.js";

test("the list holds this process as it is", async () => {
  const own = (await listProcesses()).find(({ pid }) => pid === process.pid);
  expect(own).toMatchObject({
    ppid: process.ppid,
    uid: process.getuid?.(),
    startTime: await readStartTime("self"),
  });
  expect(own?.cmdline.length).toBeGreaterThan(0);
});

test.each([
  ["", []],
  ["a\0", ["a"]],
  ["a\0\0b\0", ["a", "", "b"]],
  ["title with no end", ["title with no end"]],
])("the command line %j is %j", (text, expected) => {
  expect(parseCmdline(text)).toEqual(expected);
});

/** A shell as init of a new pid namespace that says over a socket when its script has come so far. */
async function initRunning(script: string) {
  const [near, far] = socketpairSeqpacket();
  const init = spawnNative({
    file: "/bin/sh",
    argv: ["sh", "-c", script],
    env: { PATH: "/usr/bin:/bin" },
    fds: [{ source: far, target: 3 }],
    namespaces: ["pid", "mnt"],
  });
  closeSync(far);
  readSync(near, Buffer.alloc(16));
  closeSync(near);
  return init;
}

testNeeding(
  ["root", "program:unshare"],
  "a pid namespace lists its own and nested processes, and nobody else",
  async () => {
    const init = await initRunning(`sleep 1001 & unshare -pf sh -c 'sleep 1002 & echo up >&3; wait' & wait`);
    try {
      const members = await listPidNamespace(init.pid);
      const byCommand = new Map(members.map((member) => [member.cmdline.join(" "), member]));
      expect(members.find(({ pid }) => pid === init.pid)).toMatchObject({ innerPid: 1, ppid: process.pid });
      expect(byCommand.get("sleep 1001")?.innerPid).toBeGreaterThan(1);
      expect(byCommand.get("sleep 1002")?.innerPid).toBe(2);
      expect(members.some(({ pid }) => pid === process.pid)).toBe(false);
    } finally {
      init.kill("SIGKILL");
      await init.exited;
    }
    await expect(listPidNamespace(init.pid)).rejects.toMatchObject({ code: "PROCESS_GONE" });
  },
);
