import { closeSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { readMountinfo } from "../../src/proc/index.js";
import {
  AT,
  MNT,
  MOUNT_ATTR,
  MOVE_MOUNT,
  MS,
  mount,
  mountSetattr,
  moveMount,
  OPEN_TREE_CLONE,
  openTree,
  umount2,
} from "../../src/syscalls/index.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nsexec mount-"));
});
afterEach(async () => {
  for (const { mountPoint } of (await readMountinfo("self")).reverse())
    if (mountPoint.startsWith(folder)) umount2(mountPoint, MNT.DETACH);
  rmSync(folder, { recursive: true, force: true });
});

const at = async (path: string) =>
  (await readMountinfo("self")).find(({ mountPoint }) => mountPoint === path);

testNeeding(
  ["root"],
  "a filesystem is mounted with its flags and data, seen in mountinfo, and taken down",
  async () => {
    mount(folder, {
      source: "ours",
      fsType: "tmpfs",
      flags: MS.NODEV | MS.NOSUID,
      data: "size=64k,mode=700",
    });
    const seen = await at(folder);
    expect(seen).toMatchObject({ fsType: "tmpfs", source: "ours" });
    expect(seen?.options).toEqual(expect.arrayContaining(["rw", "nosuid", "nodev"]));
    expect(seen?.superOptions).toEqual(expect.arrayContaining(["size=64k", "mode=700"]));
    umount2(folder);
    expect(await at(folder)).toBeUndefined();
  },
);

testNeeding(["root"], "a read-only copy of a mount is made and put in place by descriptor", async () => {
  const [from, to] = [join(folder, "from"), join(folder, "to")];
  mkdirSync(from);
  mkdirSync(to);
  writeFileSync(join(from, "file"), "");
  const tree = openTree(from, { flags: OPEN_TREE_CLONE });
  mountSetattr("", { dirfd: tree, flags: AT.EMPTY_PATH, set: MOUNT_ATTR.RDONLY });
  moveMount({ fd: tree }, { path: to }, MOVE_MOUNT.F_EMPTY_PATH);
  closeSync(tree);
  expect(readdirSync(to)).toEqual(["file"]);
  expect(() => writeFileSync(join(to, "file"), "x")).toThrow(expect.objectContaining({ code: "EROFS" }));
});

testNeeding(["root"], "a refusal names the call, the path and the reason", () => {
  const missing = join(folder, "missing");
  expect(() => mount(missing, { fsType: "tmpfs" })).toThrow(
    expect.objectContaining({
      name: "SyscallError",
      code: "ENOENT",
      syscall: "mount",
      path: missing,
      errno: -2,
    }),
  );
  expect(() => umount2(folder)).toThrow(expect.objectContaining({ code: "EINVAL", syscall: "umount2" }));
  expect(() => mount(folder, { fsType: "no-such-fs" })).toThrow(expect.objectContaining({ code: "ENODEV" }));
});
