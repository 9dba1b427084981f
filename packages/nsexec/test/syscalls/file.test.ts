import {
  closeSync,
  constants,
  lstatSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  flock,
  getxattr,
  LOCK,
  lgetxattr,
  llistxattr,
  lsetxattr,
  mknod,
  O,
  openat2,
  RESOLVE,
  readlinkat,
  socketpairSeqpacket,
} from "../../src/syscalls/index.js";

let folder: string;
let dirfd: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nsexec-file-"));
  dirfd = openSync(folder, O.O_PATH | O.O_DIRECTORY);
  writeFileSync(join(folder, "file"), "");
  symlinkSync("/file", join(folder, "link"));
});
afterEach(() => {
  closeSync(dirfd);
  rmSync(folder, { recursive: true, force: true });
});

test("openat2 keeps to what its resolve flags say", () => {
  const open = (resolve: number) => openat2({ dirfd, path: "link", resolve });
  closeSync(open(RESOLVE.IN_ROOT));
  expect(() => open(RESOLVE.NO_SYMLINKS)).toThrow(expect.objectContaining({ code: "ELOOP", path: "link" }));
  expect(() => open(RESOLVE.BENEATH)).toThrow(
    expect.objectContaining({ code: "EXDEV", hint: expect.any(String) }),
  );
});

test("a link is read by a descriptor of itself", () => {
  const fd = openat2({ dirfd, path: "link", flags: O.O_PATH | O.O_NOFOLLOW });
  expect(readlinkat(fd).toString()).toBe("/file");
  closeSync(fd);
  expect(readlinkat(dirfd, "link").toString()).toBe("/file");
});

test("a lock excludes another descriptor until it is given back", () => {
  const [a, b] = [openSync(join(folder, "file"), "r"), openSync(join(folder, "file"), "r")];
  flock(a, LOCK.EX);
  expect(() => flock(b, LOCK.EX | LOCK.NB)).toThrow(
    expect.objectContaining({ code: "EAGAIN", syscall: "flock" }),
  );
  flock(a, LOCK.UN);
  flock(b, LOCK.EX | LOCK.NB);
  closeSync(a);
  closeSync(b);
});

test("extended attributes go in and come out as bytes", () => {
  const path = join(folder, "file");
  const value = Buffer.from([0, 255, 10]);
  lsetxattr(path, "user.drums", value);
  expect(lgetxattr(path, "user.drums")).toEqual(value);
  expect(llistxattr(path)).toContain("user.drums");
  expect(() => lgetxattr(path, "user.none")).toThrow(expect.objectContaining({ code: "ENODATA", path }));
});

test("getxattr follows a link to an open file: a socket tells its protocol", () => {
  const [near, far] = socketpairSeqpacket();
  expect(getxattr(`/proc/self/fd/${near}`, "system.sockprotoname").toString()).toBe("UNIX\0");
  for (const fd of [near, far]) closeSync(fd);
  expect(() => getxattr(join(folder, "none"), "user.drums")).toThrow(
    expect.objectContaining({ code: "ENOENT", syscall: "getxattr" }),
  );
});

test("mknod makes sockets and fifos, and refuses a name that is taken", () => {
  mknod(join(folder, "socket"), constants.S_IFSOCK | 0o600);
  mknod(join(folder, "fifo"), constants.S_IFIFO | 0o600);
  expect(lstatSync(join(folder, "socket")).isSocket()).toBe(true);
  expect(lstatSync(join(folder, "fifo")).isFIFO()).toBe(true);
  expect(() => mknod(join(folder, "fifo"), constants.S_IFIFO)).toThrow(
    expect.objectContaining({ code: "EEXIST", syscall: "mknod" }),
  );
});
