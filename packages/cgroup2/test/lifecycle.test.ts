import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { withGroup } from "./support.js";

const NEEDS = ["root", "cgroup2"] as const;

/** User and system time of a process in clock ticks, from /proc/PID/stat. */
function ticks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function startBusy(): Promise<ChildProcess & { pid: number }> {
  const child = spawn("sh", ["-c", "while :; do :; done"], { stdio: "ignore" });
  await once(child, "spawn");
  return child as ChildProcess & { pid: number };
}

testNeeding(NEEDS, "a frozen process does not run, and runs on once thawed", async () => {
  await withGroup(async (group) => {
    const busy = await startBusy();
    try {
      group.add(busy.pid);
      await group.freeze();
      expect(group.events()).toEqual({ populated: true, frozen: true });
      const atFreeze = ticks(busy.pid);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(ticks(busy.pid)).toBe(atFreeze);
      await group.thaw();
      expect(group.events().frozen).toBe(false);
      await until(() => ticks(busy.pid) > atFreeze);
    } finally {
      busy.kill("SIGKILL");
    }
  });
});

testNeeding(NEEDS, "kill ends every process, also in a group below and when frozen, and waits", async () => {
  await withGroup(async (group, start) => {
    const below = join(group.path, "below");
    mkdirSync(below);
    const children = [await start(), await start(), await start()];
    const exits = children.map((child) => once(child, "exit"));
    for (const child of children.slice(0, 2)) group.add(child.pid);
    group.hierarchy.files.write(join(below, "cgroup.procs"), String(children[2]?.pid));
    await group.freeze();
    await group.kill();
    expect(group.events().populated).toBe(false);
    for (const exit of exits) expect(await exit).toEqual([null, "SIGKILL"]);
    await group.remove();
    expect(existsSync(group.path)).toBe(false);
  });
});

testNeeding(NEEDS, "waitEmpty returns when the last process ends", async () => {
  await withGroup(async (group, start) => {
    const children = [await start(), await start()];
    for (const child of children) group.add(child.pid);
    const empty = group.waitEmpty();
    for (const child of children) child.kill("SIGKILL");
    await empty;
    expect(group.procs()).toEqual([]);
  });
});

testNeeding(NEEDS, "waitEmpty says what it waited for when the time is over", async () => {
  await withGroup(async (group, start) => {
    group.add((await start()).pid);
    await expect(group.waitEmpty({ timeoutMs: 50 })).rejects.toMatchObject({
      code: "TIMEOUT",
      path: group.path,
      message: expect.stringContaining("not empty within 50 ms"),
    });
  });
});

testNeeding(NEEDS, "a group with a process is not removed, and the pid is named", async () => {
  await withGroup(async (group, start) => {
    const child = await start();
    group.add(child.pid);
    await expect(group.remove()).rejects.toMatchObject({
      code: "NOT_EMPTY",
      errno: "EBUSY",
      message: expect.stringContaining(String(child.pid)),
    });
    expect(group.procs()).toEqual([child.pid]);
  });
});

testNeeding(NEEDS, "a group is removed from the leaves up, and again without complaint", async () => {
  await withGroup(async (group) => {
    mkdirSync(join(group.path, "a/b"), { recursive: true });
    mkdirSync(join(group.path, "c"));
    await group.remove();
    expect(existsSync(group.path)).toBe(false);
    await group.remove();
    await group.kill();
    await group.waitEmpty();
  });
});

testNeeding(NEEDS, "statistics show the time that was used and the kernel's pressure", async () => {
  await withGroup(async (group) => {
    const busy = await startBusy();
    try {
      group.add(busy.pid);
      await until(() => (group.stats().cpu?.usageUsec ?? 0) > 1000);
    } finally {
      busy.kill("SIGKILL");
    }
    expect(group.stats().pressure).toBeTypeOf("object");
  });
});
