import fc from "fast-check";
import { expect, test } from "vitest";
import { parseMountinfo, readMountinfo, unescapeOctal } from "../../src/proc/index.js";

test("the manual's own line is read field by field", () => {
  const line = "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n";
  expect(parseMountinfo(line)).toEqual([
    {
      mountId: 36,
      parentId: 35,
      major: 98,
      minor: 0,
      root: "/mnt1",
      mountPoint: "/mnt2",
      options: ["rw", "noatime"],
      master: 1,
      unbindable: false,
      fsType: "ext3",
      source: "/dev/root",
      superOptions: ["rw", "errors=continue"],
    },
  ]);
});

test.each([
  ["a space", "/a\\040b", "/a b"],
  ["a tab", "/a\\011b", "/a\tb"],
  ["a newline", "/a\\012b", "/a\nb"],
  ["a backslash", "/a\\134b", "/a\\b"],
  ["an escaped backslash before digits", "/a\\134040b", "/a\\040b"],
  ["a hash", "/\\043a", "/#a"],
  ["no escape", "/a\\9", "/a\\9"],
])("%s in a mount point is unescaped", (_, escaped, plain) => {
  expect(parseMountinfo(`1 1 0:1 / ${escaped} rw - tmpfs none rw`)[0]?.mountPoint).toBe(plain);
});

test.each([
  ["no optional field", "", {}],
  ["shared", "shared:5 ", { shared: 5 }],
  ["all of them", "shared:5 master:6 propagate_from:7 ", { shared: 5, master: 6, propagateFrom: 7 }],
  ["unbindable", "unbindable ", { unbindable: true }],
  ["one of a later kernel", "frobbed:9 ", {}],
])("propagation with %s", (_, fields, expected) => {
  const [mount] = parseMountinfo(`1 1 0:1 / /x rw ${fields}- tmpfs none rw`);
  expect(mount).toMatchObject({ unbindable: false, fsType: "tmpfs", ...expected });
});

test("an empty source, a mount point named - and a deleted root are taken as they are", () => {
  const [empty, dash] = parseMountinfo(
    "1 1 0:1 //deleted /x rw - tmpfs  rw,size=4k\n2 1 0:2 / - rw - proc proc rw\n",
  );
  expect(empty).toMatchObject({ root: "//deleted", source: "", superOptions: ["rw", "size=4k"] });
  expect(dash).toMatchObject({ mountPoint: "-", fsType: "proc" });
});

test.each([
  "x",
  "1 2 0:1 / /x rw",
  "1 2 0 / /x rw - tmpfs none rw",
  "a 2 0:1 / /x rw - tmpfs none rw",
  "1 2 0:1 / /x rw -",
])("%j is refused with the line in the message", (line) => {
  expect(() => parseMountinfo(line)).toThrow(expect.objectContaining({ code: "PROC_FORMAT" }));
  expect(() => parseMountinfo(line)).toThrow(line);
});

/** What the kernel's mangle_path() does. */
const mangle = (text: string) =>
  text.replace(/[ \t\n\\#]/g, (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, "0")}`);

test("every name comes back as it was before the kernel escaped it", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const line = `1 2 0:3 ${mangle(`/${a}`)} ${mangle(`/${b}`)} rw - overlay ${mangle(a)} rw`;
      expect(parseMountinfo(line)[0]).toMatchObject({ root: `/${a}`, mountPoint: `/${b}`, source: a });
      expect(unescapeOctal(mangle(a))).toBe(a);
    }),
  );
});

test("this process's own table has /proc in it", async () => {
  const mounts = await readMountinfo("self");
  expect(mounts.filter((mount) => mount.mountPoint === "/proc").at(-1)).toMatchObject({ fsType: "proc" });
});
