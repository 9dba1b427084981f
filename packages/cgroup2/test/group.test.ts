import { closeSync, existsSync, fstatSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { createGroup, openGroup, readHierarchy } from "../src/index.js";
import { withFake } from "./fake-kernel.js";
import { freshName, withGroup } from "./support.js";

const NEEDS = ["root", "cgroup2"] as const;

testNeeding(
  NEEDS,
  "a group is made with its parent, holds a process, and is removed with its parent",
  async () => {
    const hierarchy = await readHierarchy();
    const parent = freshName();
    const group = await createGroup({ hierarchy, path: [parent, "one"] });
    expect(group.relative).toBe(`/${parent}/one`);
    expect(group.procs()).toEqual([]);
    expect(group.events()).toEqual({ populated: false, frozen: false });
    await group.remove();
    expect(existsSync(group.path)).toBe(false);
    expect(existsSync(dirname(group.path))).toBe(false);
  },
);

testNeeding(NEEDS, "a parent with another session's group in it stays", async () => {
  const hierarchy = await readHierarchy();
  const parent = freshName();
  const one = await createGroup({ hierarchy, path: [parent, "one"] });
  const two = await createGroup({ hierarchy, path: [parent, "two"] });
  await one.remove();
  expect(existsSync(two.path)).toBe(true);
  await two.remove();
  expect(existsSync(dirname(two.path))).toBe(false);
});

testNeeding(NEEDS, "a process that is added is listed, and counts as populated", async () => {
  await withGroup(async (group, start) => {
    const child = await start();
    group.add(child.pid);
    expect(group.procs()).toEqual([child.pid]);
    expect(group.events().populated).toBe(true);
  });
});

testNeeding(NEEDS, "a group that is there already is refused: sessions want fresh ones", async () => {
  await withGroup(async (group) => {
    const again = createGroup({ hierarchy: group.hierarchy, path: group.parts });
    await expect(again).rejects.toMatchObject({ code: "GROUP_EXISTS", errno: "EEXIST", path: group.path });
  });
});

testNeeding(
  NEEDS,
  "a group is opened again by its name, and one that is not there is said to be so",
  async () => {
    await withGroup(async (group, start) => {
      const child = await start();
      group.add(child.pid);
      const opened = await openGroup({ hierarchy: group.hierarchy, path: group.parts });
      expect(opened.procs()).toEqual([child.pid]);
      const missing = openGroup({ hierarchy: group.hierarchy, path: ["drums", freshName()] });
      await expect(missing).rejects.toMatchObject({ code: "NO_GROUP" });
    });
  },
);

testNeeding(NEEDS, "the descriptor for a clone is the group's own folder", async () => {
  await withGroup(async (group) => {
    const fd = group.openFd();
    try {
      expect(fstatSync(fd).ino).toBe(statSync(group.path).ino);
    } finally {
      closeSync(fd);
    }
  });
});

testNeeding(
  NEEDS,
  "many groups are made and removed at once below one parent, and nothing is left",
  async () => {
    const hierarchy = await readHierarchy();
    const parent = freshName();
    const cycle = async (index: number) => {
      for (let round = 0; round < 5; round++) {
        const group = await createGroup({ hierarchy, path: [parent, `${index}-${round}`] });
        await group.remove();
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, index) => cycle(index)));
    expect(existsSync(`${hierarchy.mountPoint}/${parent}`)).toBe(false);
  },
);

testNeeding(NEEDS, "an ended pid is refused with ESRCH by name, cause and remedy", async () => {
  await withGroup(async (group, start) => {
    const child = await start();
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    expect(() => group.add(child.pid)).toThrowError(
      expect.objectContaining({ code: "REFUSED", errno: "ESRCH", syscall: "write" }),
    );
  });
});

test.each([
  [[]],
  [["drums", ".."]],
  [["drums", "a/b"]],
  [["cgroup.procs"]],
  [["drums", ""]],
  [["drums", ".x"]],
])("%j is no group's name (fake kernel)", async (path) => {
  await withFake(async (kernel) => {
    const made = createGroup({ hierarchy: await kernel.hierarchy(), path });
    await expect(made).rejects.toMatchObject({ code: "BAD_PATH" });
  });
});

test("without cgroup2 a group is refused with the remedy", async () => {
  await withFake(async (kernel) => {
    const { mountPoint: _, ...without } = await kernel.hierarchy();
    const made = createGroup({ hierarchy: without, path: ["drums", "x"] });
    await expect(made).rejects.toMatchObject({
      code: "NO_HIERARCHY",
      hint: expect.stringContaining("mount -t cgroup2"),
    });
  });
});
