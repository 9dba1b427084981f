import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type TestFunction, test } from "vitest";

/** What a test may need of the machine, each with the check that answers for it. */
const CHECKS = {
  root: () => process.getuid?.() === 0 || "not root",
  fuse: () => existsSync("/dev/fuse") || "/dev/fuse is missing",
  loop: () => existsSync("/dev/loop-control") || "/dev/loop-control is missing",
  cgroup2: () =>
    ["/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs"].some((file) => existsSync(file)) ||
    "no cgroup2 mount",
} as const satisfies Record<string, () => true | string>;

/** A named check, a program on PATH (`program:NAME`), a file (`file:PATH`), or a driver (`filesystem:NAME`). */
export type Need = keyof typeof CHECKS | `program:${string}` | `file:${string}` | `filesystem:${string}`;

/** Says why a need is not met, or undefined when it is. */
export function unmet(need: Need): string | undefined {
  if (need.startsWith("program:"))
    return onPath(need.slice(8)) ? undefined : `${need.slice(8)} is not on PATH`;
  if (need.startsWith("file:")) return existsSync(need.slice(5)) ? undefined : `${need.slice(5)} is missing`;
  if (need.startsWith("filesystem:"))
    return hasDriver(need.slice(11)) ? undefined : `the kernel has no ${need.slice(11)}`;
  const answer = CHECKS[need as keyof typeof CHECKS]();
  return answer === true ? undefined : answer;
}

/**
 * A test that names its needs. Where one is not met it is skipped by name;
 * with DRUMS_MUST_WORK=1, as in CI, it fails instead, so that a skip cannot hide a fault.
 */
export function testNeeding(
  needs: readonly Need[],
  name: string,
  body: TestFunction,
  timeoutMs?: number,
): void {
  const missing = needs.map(unmet).filter((reason) => reason !== undefined);
  if (missing.length === 0) {
    test(name, timeoutMs === undefined ? {} : { timeout: timeoutMs }, body);
  } else if (process.env.DRUMS_MUST_WORK === "1") {
    test(name, () => {
      throw new Error(`DRUMS_MUST_WORK=1 and this test cannot run: ${missing.join("; ")}`);
    });
  } else {
    test.skip(`${name} (needs: ${missing.join("; ")})`, () => {});
  }
}

/** Built in, or loaded, or to be loaded. */
function hasDriver(name: string): boolean {
  const known = () => readFileSync("/proc/filesystems", "utf8").split(/\s+/).includes(name);
  return known() || (spawnSync("modprobe", [name]).status === 0 && known());
}

function onPath(program: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
