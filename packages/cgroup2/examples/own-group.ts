/**
 * Puts a process into a group of its own, verifies that, asks for limits, freezes, thaws and kills it.
 * Needs root.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createGroup, readHierarchy, setLimits, verifyMembership } from "@drums/cgroup2";

export async function ownGroup(id: string): Promise<string[]> {
  const hierarchy = await readHierarchy();
  const group = await createGroup({ hierarchy, path: ["example", id] });
  const lines = [`${hierarchy.mode}: ${group.relative}`];
  try {
    const { pid = 0 } = spawn("sleep", ["1000"], { stdio: "ignore" });
    group.add(pid);
    const reported = readFileSync(`/proc/${pid}/cgroup`, "utf8");
    const membership = await verifyMembership({ group, pid, reported });
    lines.push(`member: ${membership.ok}`);

    const limits = await setLimits(group, { pidsMax: 64 });
    lines.push(limits.enforced ? "at most 64 processes" : `no limit: ${limits.reason}`);

    await group.freeze();
    lines.push(`frozen: ${group.events().frozen}`);
    await group.thaw();
  } finally {
    await group.kill();
    await group.remove();
  }
  return lines;
}
