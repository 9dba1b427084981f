import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { readStat } from "@drums/nsexec/proc";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { identify } from "../../src/session/identity.js";
import { stopProcesses, wakeProcesses } from "../../src/session/stop.js";

/** A pid namespace with a shell, a job of it, and one that stopped itself; prints a line when all are there. */
const TREE = "sleep 1000 & sh -c 'kill -STOP $$; exec sleep 1000' & sleep 0.2; echo up; wait";

async function withTree(
  body: (init: number, states: () => Promise<string[]>) => Promise<void>,
): Promise<void> {
  const outer = spawn("unshare", ["--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", TREE], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(outer.stdout, "data");
    const childrenOf = async (pid: number) => {
      return (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8"))
        .split(" ")
        .filter(Boolean)
        .map(Number);
    };
    const [init = 0] = await childrenOf(outer.pid ?? 0);
    const members = [init, ...(await childrenOf(init))];
    await body(init, () => Promise.all(members.map(async (pid) => (await readStat(pid)).state)));
  } finally {
    outer.kill("SIGKILL");
  }
}

testNeeding(
  ["root", "program:unshare"],
  "all are stopped, parents first, and woken again but what had stopped before",
  async () => {
    await withTree(async (init, states) => {
      expect((await states()).sort()).toEqual(["S", "S", "T"]);
      const stopped = await stopProcesses(await identify(init));
      expect(stopped.map(({ pid }) => pid)[0]).toBe(init);
      expect(stopped).toHaveLength(2);
      expect(await states()).toEqual(["T", "T", "T"]);
      const other = { pid: stopped[0]?.pid ?? 0, startTime: "1" };
      await wakeProcesses([other]);
      expect(await states()).toEqual(["T", "T", "T"]);
      await wakeProcesses(stopped);
      expect((await states()).filter((state) => state === "T")).toHaveLength(1);
    });
  },
);
