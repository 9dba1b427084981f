import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { type Membership, verifyMembership } from "../src/index.js";
import { born } from "./limited.js";
import { withGroup } from "./support.js";

const NEEDS = ["root", "cgroup2"] as const;

function failed(membership: Membership): string[] {
  return membership.checks.filter(({ ok }) => !ok).map(({ name }) => name);
}

testNeeding(NEEDS, "a process in its group passes from both sides", async () => {
  await withGroup(async (group, start) => {
    const { pid } = await start();
    group.add(pid);
    const reported = readFileSync(`/proc/${pid}/cgroup`, "utf8");
    const membership = await verifyMembership({ group, pid, reported });
    expect(membership.checks.map(({ name }) => name)).toEqual(["listed", "outside", "reported"]);
    expect(failed(membership)).toEqual([]);
    expect(membership.ok).toBe(true);
  });
});

testNeeding(NEEDS, "a process that was cloned into its group was there before it ran anything", async () => {
  const folder = mkdtempSync(join(tmpdir(), "drums-born-"));
  try {
    await withGroup(async (group) => {
      const file = join(folder, "reported");
      const first = born(group, `cat /proc/self/cgroup >${file}`);
      expect(await first.exited).toMatchObject({ code: 0 });
      const { pid } = born(group, "exec sleep 1000");
      const membership = await verifyMembership({ group, pid, reported: readFileSync(file, "utf8") });
      expect(failed(membership)).toEqual([]);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

testNeeding(NEEDS, "a process in another group fails every check", async () => {
  await withGroup(async (group, start) => {
    const { pid } = await start();
    const reported = readFileSync(`/proc/${pid}/cgroup`, "utf8");
    const membership = await verifyMembership({ group, pid, reported });
    expect(failed(membership)).toEqual(["listed", "outside", "reported"]);
    expect(membership.checks[1]?.detail).toContain(`expected ${group.relative}`);
  });
});

testNeeding(NEEDS, "a report that lies, or is missing, or is no report, fails that check alone", async () => {
  await withGroup(async (group, start) => {
    const { pid } = await start();
    group.add(pid);
    for (const reported of ["0::/elsewhere\n", undefined, "", `x${"y".repeat(100_000)}`]) {
      const membership = await verifyMembership({ group, pid, reported });
      expect(failed(membership)).toEqual(["reported"]);
      for (const { detail } of membership.checks) expect(detail.length).toBeLessThan(1000);
    }
  });
});

testNeeding(NEEDS, "a pid that has ended fails without a throw", async () => {
  await withGroup(async (group, start) => {
    const child = await start();
    const { pid } = child;
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    const membership = await verifyMembership({ group, pid, reported: `0::${group.relative}\n` });
    expect(failed(membership)).toEqual(["listed", "outside"]);
  });
});

testNeeding(
  [...NEEDS, "program:unshare"],
  "a report from inside a cgroup namespace is judged by where its root is",
  async () => {
    await withGroup(async (group, start) => {
      const { pid } = await start();
      group.add(pid);
      // The shell joins the group first, so that the new namespace has its root there.
      const script = `echo $$ > ${group.path}/cgroup.procs && exec unshare --cgroup cat /proc/self/cgroup`;
      const reported = execFileSync("sh", ["-c", script], { encoding: "utf8" });
      expect(reported).toMatch(/^0::\/$/m);
      const known = await verifyMembership({ group, pid, reported, namespaceRoot: group.relative });
      expect(failed(known)).toEqual([]);
      const unknown = await verifyMembership({ group, pid, reported });
      expect(failed(unknown)).toEqual(["reported"]);
    });
  },
);
