import { parseMountinfo } from "@drums/nsexec/proc";
import { expect, test } from "vitest";
import { checkWatches } from "../../src/audit/watches.js";

const MOUNTS = new Map(
  parseMountinfo(
    "100 99 0:40 / / rw - overlay overlay rw,index=on,nfs_export=on\n" +
      "101 100 0:41 / /proc rw - proc proc rw\n" +
      "102 100 0:42 / /plain rw - overlay overlay rw\n" +
      "103 100 0:43 / /tmp rw - tmpfs tmpfs rw\n",
  ).map((mount) => [mount.mountId, mount]),
);

/** The rules that fire for one line of fdinfo. */
function rulesOf(info: string, deleted = false): string[] {
  const task = { pid: 1000, name: "it" } as Parameters<typeof checkWatches>[0];
  const options = { mounts: MOUNTS, isDeleted: () => deleted };
  return checkWatches(task, { fd: 5, info: `pos:\t0\n${info}\n` }, options).map(
    ({ rule, object }) => `${rule}: ${object}`,
  );
}

test.each(["inotify wd:1 ino:2 sdev:28 mask:fff", "fanotify ino:2 sdev:28 mflags:0 mask:8"])(
  "a watch on an overlay with nfs_export passes: %s",
  (line) => {
    expect(rulesOf(line)).toEqual([]);
  },
);

test("a watch on an overlay without nfs_export, or on /proc, has no handle that could be kept", () => {
  expect(rulesOf("inotify wd:1 ino:2 sdev:2a mask:fff")).toEqual(["inotify-overlay: fd 5 inotify on /plain"]);
  expect(rulesOf("fanotify ino:2 sdev:29 mflags:0")).toEqual(["inotify-no-handle: fd 5 fanotify on /proc"]);
});

test("many watches on one filesystem are one finding", () => {
  const lines = "inotify wd:1 ino:2 sdev:29 mask:f\ninotify wd:2 ino:3 sdev:29 mask:f";
  expect(rulesOf(lines)).toEqual(["inotify-no-handle: fd 5 inotify on /proc"]);
});

test("a watch on what is deleted and still open is refused on any filesystem", () => {
  expect(rulesOf("inotify wd:1 ino:2 sdev:2b mask:fff", true)).toEqual([
    "inotify-deleted: fd 5 inotify on /tmp",
  ]);
});

test("a mark on a whole filesystem is lost, one on a mount is not", () => {
  expect(rulesOf("fanotify sdev:2b mflags:0 mask:8")).toEqual(["fanotify-filesystem: fd 5 fanotify"]);
  expect(rulesOf("fanotify mnt_id:1f mflags:0 mask:8")).toEqual([]);
});
