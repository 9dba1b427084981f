import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { realSystem } from "../../src/index.js";
import { probeFuseExport, storageDaemonArguments } from "../../src/mount/fuse-export.js";
import { rootFolder } from "../../src/mount/layout.js";
import { findFreeNbd, nbdArguments, probeNbd } from "../../src/mount/nbd.js";
import { temporaryFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

// What the machine has is faked here: the kernel of the machine that runs the tests need not have NBD.
function machine({
  files = [],
  programs = [],
  modules = {},
}: {
  files?: string[];
  programs?: string[];
  modules?: Record<string, string>;
}) {
  const present = new Set(files);
  return {
    ...realSystem,
    exists: async (path: string) => present.has(path),
    onPath: async (program: string) => programs.includes(program),
    run: async (_file: string, [name = ""]: readonly string[]) => {
      const makes = modules[name];
      if (makes === undefined) throw Object.assign(new Error("exit 1"), { stderr: "Module not found\nmore" });
      present.add(makes);
    },
  };
}

test("NBD is probed: program, device, module", async () => {
  expect(await probeNbd(machine({}))).toContain("qemu-nbd is not on PATH");
  const programs = ["qemu-nbd"];
  expect(await probeNbd(machine({ programs, files: ["/dev/nbd0"] }))).toBeUndefined();
  expect(await probeNbd(machine({ programs, modules: { nbd: "/dev/nbd0" } }))).toBeUndefined();
  expect(await probeNbd(machine({ programs }))).toBe(
    "/dev/nbd0 is missing and modprobe nbd failed: Module not found",
  );
  expect(await probeNbd(machine({ programs, modules: { nbd: "/dev/else" } }))).toContain(
    "even with the nbd module",
  );
});

test("the FUSE export is probed: devices and program", async () => {
  expect(await probeFuseExport(machine({}))).toBe("/dev/fuse is missing");
  expect(await probeFuseExport(machine({ files: ["/dev/fuse"] }))).toBe("/dev/loop-control is missing");
  const files = ["/dev/fuse", "/dev/loop-control"];
  expect(await probeFuseExport(machine({ files }))).toContain("qemu-storage-daemon is not on PATH");
  expect(await probeFuseExport(machine({ files, programs: ["qemu-storage-daemon"] }))).toBeUndefined();
});

test("the first NBD device that nobody serves is taken, in the order of numbers", async () => {
  const sysfs = await temporaryFolder();
  for (const name of ["nbd0", "nbd2", "nbd10", "sda"])
    await mkdir(join(sysfs, "block", name), { recursive: true });
  await writeFile(join(sysfs, "block/nbd0/pid"), "12\n");
  expect(await findFreeNbd({ sysfs })).toBe("/dev/nbd2");
  expect(await findFreeNbd({ sysfs, except: new Set(["/dev/nbd2"]) })).toBe("/dev/nbd10");
  await writeFile(join(sysfs, "block/nbd2/pid"), "13\n");
  await writeFile(join(sysfs, "block/nbd10/pid"), "14\n");
  await failure(() => findFreeNbd({ sysfs }), "NO_WAY");
});

test("QEMU is given the whole graph as JSON, read-only unless a journal is replayed", () => {
  const folder = rootFolder("/state", "id");
  const node = { driver: "qcow2", file: { driver: "file", filename: "/a,b" }, backing: null };
  const [, block = "", , target = "", ...rest] = storageDaemonArguments(folder, node, false);
  expect(JSON.parse(block)).toEqual({ ...node, "node-name": "disk", "read-only": true });
  expect(JSON.parse(target)).toMatchObject({
    type: "fuse",
    mountpoint: "/state/roots/id/disk",
    writable: false,
  });
  expect(rest).toEqual(["--daemonize", "--pidfile", "/state/roots/id/daemon.pid"]);
  const nbd = nbdArguments(folder, "/dev/nbd3", node, false);
  expect(nbd.slice(0, 4)).toEqual([
    "--connect=/dev/nbd3",
    "--read-only",
    "--fork",
    "--pid-file=/state/roots/id/daemon.pid",
  ]);
  expect(nbdArguments(folder, "/dev/nbd3", node, true)).not.toContain("--read-only");
});
