import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createGroup, type Group, readHierarchy } from "../src/index.js";

/** A name that no other run of the tests takes. */
export function freshName(): string {
  return `test-${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
}

/** Runs `body` with a real group of its own and processes started by it; both are gone afterwards. */
export async function withGroup(
  body: (group: Group, start: () => Promise<ChildProcess & { pid: number }>) => Promise<void>,
): Promise<void> {
  const hierarchy = await readHierarchy();
  const group = await createGroup({ hierarchy, path: ["drums", freshName()] });
  const children: ChildProcess[] = [];
  try {
    await body(group, async () => {
      const child = spawn("sleep", ["1000"], { stdio: "ignore" });
      children.push(child);
      await once(child, "spawn");
      return withPid(child);
    });
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await group.kill();
    await group.remove();
  }
}

function withPid(child: ChildProcess): ChildProcess & { pid: number } {
  if (child.pid === undefined) throw new Error("sleep did not start");
  return child as ChildProcess & { pid: number };
}
