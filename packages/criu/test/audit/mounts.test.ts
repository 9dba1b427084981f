import { parseMountinfo } from "@drums/nsexec/proc";
import { describe, expect, test } from "vitest";
import { checkFieldRecord, FIELD_RECORD_KINDS } from "../../src/audit/field-record.js";
import { checkMounts } from "../../src/audit/mounts.js";

const ROOT = "100 99 0:40 / / rw - overlay overlay rw,index=on,nfs_export=on\n";

function rulesOf(more: string, externals: string[] = []) {
  return checkMounts(parseMountinfo(ROOT + more), { externals }).map(({ rule, object }) => [rule, object]);
}

describe("kinds of filesystem", () => {
  test.each(["proc", "tmpfs", "devpts", "mqueue"])("%s passes", (kind) => {
    expect(rulesOf(`101 100 0:41 / /x rw - ${kind} ${kind} rw\n`)).toEqual([]);
  });

  test.each([
    "sysfs",
    "devtmpfs",
    "binfmt_misc",
    "debugfs",
    "securityfs",
    "pstore",
    "fusectl",
    "cgroup",
    "cgroup2",
  ])("%s is taken by CRIU, and isolates badly where it can be written", (kind) => {
    expect(rulesOf(`101 100 0:41 / /x rw - ${kind} ${kind} rw\n`)).toEqual([
      ["mount-host-view", `/x (${kind})`],
    ]);
    expect(rulesOf(`101 100 0:41 / /x ro - ${kind} ${kind} rw\n`)).toEqual([]);
  });

  test.each(["bpf", "ramfs", "hugetlbfs", "squashfs", "ext4"])("%s is refused", (kind) => {
    expect(rulesOf(`101 100 7:1 / /x rw - ${kind} dev rw\n`)).toEqual([
      ["mount-unsupported", `/x (${kind})`],
    ]);
  });

  test.each(["fuse", "fuse.gvfsd-fuse", "fuseblk"])("%s is refused as fuse", (kind) => {
    expect(rulesOf(`101 100 0:41 / /x rw - ${kind} x rw\n`)).toEqual([["mount-fuse", `/x (${kind})`]]);
  });

  test("an overlay on the session's folders is refused, tracefs is left out by CRIU", () => {
    expect(rulesOf("101 100 0:41 / /x rw - overlay overlay rw\n")).toEqual([
      ["mount-overlay", "/x (overlay)"],
    ]);
    expect(rulesOf("101 100 0:41 / /x ro - tracefs t rw\n")).toEqual([["mount-dropped", "/x (tracefs)"]]);
  });

  test("the field record's list refuses eleven kinds, whatever CRIU does with them", () => {
    expect(FIELD_RECORD_KINDS).toHaveLength(11);
    for (const kind of FIELD_RECORD_KINDS)
      expect(checkFieldRecord(parseMountinfo(`${ROOT}101 100 0:41 / /x ro - ${kind} k rw\n`))).toMatchObject([
        { rule: "mount-field-record", severity: "refuses", object: `/x (${kind})` },
      ]);
    expect(checkFieldRecord(parseMountinfo(ROOT))).toEqual([]);
  });

  test("a root of any kind passes", () => {
    const mounts = parseMountinfo("100 99 8:1 / / rw - ext4 /dev/sda1 rw\n");
    expect(checkMounts(mounts, { externals: [] })).toEqual([]);
  });
});

describe("binds", () => {
  test("of a host folder are refused, and pass as externals", () => {
    const bind = "101 100 8:1 /srv/data /mnt/x rw - ext4 /dev/sda1 rw\n";
    expect(rulesOf(bind)).toEqual([["mount-external", "/mnt/x (ext4)"]]);
    expect(rulesOf(bind, ["/mnt/x"])).toEqual([]);
  });

  test("of the session's own filesystems pass", () => {
    const proc = "101 100 0:41 / /proc rw - proc proc rw\n102 101 0:41 /sys /proc/sys ro - proc proc rw\n";
    const dev =
      "103 100 0:42 / /dev rw - tmpfs tmpfs rw\n104 101 0:42 /null /proc/kcore rw - tmpfs tmpfs rw\n";
    expect(rulesOf(proc + dev)).toEqual([]);
  });

  test("of the root's own folders pass, whatever kind the root is", () => {
    const mounts = parseMountinfo("100 99 8:1 / / rw - ext4 d rw\n101 100 8:1 /home /mnt rw - ext4 d rw\n");
    expect(checkMounts(mounts, { externals: [] })).toEqual([]);
  });

  test("whose names merely begin alike are not taken for a folder above", () => {
    const mounts = "101 100 0:50 /a /x rw - tmpfs t rw\n102 100 0:50 /ab /y rw - tmpfs t rw\n";
    expect(rulesOf(mounts)).toEqual([
      ["mount-external", "/x (tmpfs)"],
      ["mount-external", "/y (tmpfs)"],
    ]);
  });

  test("of a namespace file are refused", () => {
    expect(rulesOf("101 100 0:4 net:[4026] /run/netns/x rw - nsfs nsfs rw\n")).toEqual([
      ["mount-nsfs", "/run/netns/x (nsfs)"],
    ]);
  });
});

test("an overmounted root is refused", () => {
  expect(rulesOf("101 100 0:41 / / rw - tmpfs tmpfs rw\n")).toEqual([
    ["mount-overmounted-root", "/ (tmpfs)"],
  ]);
});

test("a slave of a group outside isolates badly, one of a group inside does not", () => {
  expect(rulesOf("101 100 0:41 / /x rw master:7 - tmpfs t rw\n")).toEqual([
    ["mount-propagation", "/x (tmpfs)"],
  ]);
  expect(
    rulesOf("101 100 0:41 / /x rw master:7 - tmpfs t rw\n102 100 0:42 / /y rw shared:7 - tmpfs t rw\n"),
  ).toEqual([]);
});
