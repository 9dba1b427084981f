import { expect, test } from "vitest";
import { NAMESPACE_KINDS, readNamespaces, sameNamespace } from "../../src/proc/index.js";

test("this process's namespaces are the same by pid and by self", async () => {
  const byPid = await readNamespaces(process.pid);
  expect(byPid).toEqual(await readNamespaces("self"));
  expect(Object.keys(byPid)).toEqual([...NAMESPACE_KINDS]);
});

test("an equal inode on another device is another namespace", () => {
  expect(sameNamespace({ device: 1n, inode: 2n }, { device: 1n, inode: 2n })).toBe(true);
  expect(sameNamespace({ device: 1n, inode: 2n }, { device: 3n, inode: 2n })).toBe(false);
});

test("a process that is not there gives ENOENT", async () => {
  await expect(readNamespaces(4_194_305)).rejects.toMatchObject({ code: "ENOENT" });
});
