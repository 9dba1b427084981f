import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { parseCgroupMounts } from "../src/hierarchy.js";
import { parseProcCgroup, readHierarchy } from "../src/index.js";
import { withFake } from "./fake-kernel.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder that stands for a machine: its procfs, and beside it the cgroup mounts. */
function machine(mountinfo: (root: string) => string): { root: string; proc: string } {
  const folder = mkdtempSync(join(tmpdir(), "drums-hierarchy-"));
  folders.push(folder);
  const root = join(folder, "cgroup");
  mkdirSync(join(root, "unified"), { recursive: true });
  mkdirSync(join(folder, "proc/self"), { recursive: true });
  writeFileSync(join(root, "unified/cgroup.controllers"), "\n");
  writeFileSync(join(folder, "proc/self/mountinfo"), mountinfo(root));
  writeFileSync(join(folder, "proc/self/cgroup"), "4:memory:/job\n0::/init.scope\n");
  return { root, proc: join(folder, "proc") };
}

test("a hybrid machine is named, with the v1 hierarchy that holds each controller", async () => {
  const hierarchy = await readHierarchy(
    machine(
      (root) => `35 31 0:32 / ${root}/memory rw,relatime - cgroup cgroup rw,memory
36 31 0:33 / ${root}/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
40 31 0:37 / ${root}/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
41 31 0:38 / ${root}/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate
`,
    ),
  );
  expect(hierarchy.mode).toBe("hybrid");
  expect(hierarchy.mountPoint).toMatch(/cgroup\/unified$/);
  expect(Object.keys(hierarchy.heldByV1).sort()).toEqual(["cpu", "cpuacct", "memory"]);
  expect(hierarchy.controllers).toEqual([]);
  expect(hierarchy.ownPath).toBe("/init.scope");
  expect(hierarchy.writable).toBe(true);
});

test("a machine with v1 hierarchies alone is named", async () => {
  const hierarchy = await readHierarchy(
    machine((root) => `35 31 0:32 / ${root}/memory rw - cgroup cgroup rw,memory\n`),
  );
  expect(hierarchy.mode).toBe("v1");
  expect(hierarchy.mountPoint).toBeUndefined();
});

test("a machine without cgroups is named", async () => {
  const hierarchy = await readHierarchy(machine(() => "23 1 254:0 / / rw - ext4 /dev/vda rw\n"));
  expect(hierarchy.mode).toBe("none");
});

test("a v2 machine is named, with the controllers of its root (fake kernel)", async () => {
  await withFake(async (kernel) => {
    const hierarchy = await kernel.hierarchy();
    expect(hierarchy.mode).toBe("v2");
    expect(hierarchy.controllers).toEqual(["cpu", "memory", "pids"]);
  });
});

test("a procfs that is not there is a clear error", async () => {
  await expect(readHierarchy({ proc: "/nonexistent" })).rejects.toMatchObject({
    code: "NO_HIERARCHY",
    path: "/nonexistent/self/mountinfo",
    hint: expect.stringContaining("procfs"),
  });
});

test("a read-only mount, or a read-only super block, is not writable", () => {
  const [bind, whole] = parseCgroupMounts(
    "41 31 0:38 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw\n41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 ro\n",
  );
  expect(bind?.writable).toBe(false);
  expect(whole?.writable).toBe(false);
});

test("octal escapes in mountinfo are read as the kernel meant them", () => {
  const [mount] = parseCgroupMounts("41 31 0:38 /a\\040b /mnt/c\\011d rw - cgroup2 none rw\n");
  expect(mount).toMatchObject({ root: "/a b", mountPoint: "/mnt/c\td" });
});

test("only the 0:: line of /proc/PID/cgroup is cgroup2's", () => {
  expect(parseProcCgroup("9:name=systemd:/x\n0::/drums/a\n")).toBe("/drums/a");
  expect(parseProcCgroup("4:memory:/drums/a\n")).toBeUndefined();
  expect(parseProcCgroup("0::/drums/a (deleted)\n")).toBe("/drums/a (deleted)");
});

testNeeding(["cgroup2"], "the real machine's cgroup2 is found where its control files are", async () => {
  const hierarchy = await readHierarchy();
  expect(["v2", "hybrid"]).toContain(hierarchy.mode);
  expect(hierarchy.files.read(`${hierarchy.mountPoint}/cgroup.procs`)).toMatch(/^(\d+\n)*$/);
});
