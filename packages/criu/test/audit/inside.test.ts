import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { readMountinfo } from "@drums/nsexec/proc";
import { afterEach, beforeEach, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { inMount } from "../../src/audit/inside.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drums-inside-"));
});
afterEach(() => rm(folder, { recursive: true }));

const OWN = { initPid: process.pid, proc: "/proc" };

testNeeding(["root"], "a mount is looked into, and never what a link leads to in its place", async () => {
  const point = join(folder, "way/mount");
  await mkdir(point, { recursive: true });
  await mkdir(join(folder, "host/mount"), { recursive: true });
  await writeFile(join(folder, "host/mount/secret"), "");
  sys.mount(point, { source: "inside", fsType: "tmpfs" });
  try {
    await writeFile(join(point, "own"), "");
    const mount = (await readMountinfo("self")).find(({ mountPoint }) => mountPoint === point);
    if (mount === undefined) throw new Error("the mount is not there");
    expect(inMount(mount, OWN, (path) => readdirSync(path))).toEqual(["own"]);

    await rename(join(folder, "way"), join(folder, "moved"));
    await symlink(join(folder, "host"), join(folder, "way"));
    expect(await readdir(point)).toEqual(["secret"]);
    expect(inMount(mount, OWN, (path) => readdirSync(path))).toBeUndefined();
  } finally {
    sys.umount2(join(folder, "moved/mount"));
  }
});

testNeeding(["root"], "a mount that is gone, and a look that fails, give nothing", async () => {
  const [mount] = await readMountinfo("self");
  if (mount === undefined) throw new Error("no mount");
  expect(inMount({ ...mount, mountPoint: "/no/such/place" }, OWN, () => 1)).toBeUndefined();
  const failing = () => {
    throw new Error("no");
  };
  expect(inMount({ ...mount, mountPoint: "/" }, OWN, failing)).toBeUndefined();
});
