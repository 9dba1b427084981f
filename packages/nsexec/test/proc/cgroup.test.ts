import { expect, test } from "vitest";
import { parseCgroup, readCgroup } from "../../src/proc/index.js";

test("v1, named and v2 lines are told apart", () => {
  const text = "12:cpu,cpuacct:/a\n1:name=systemd:/user.slice\n0::/drums/x:y\n";
  expect(parseCgroup(text)).toEqual([
    { hierarchy: 12, controllers: ["cpu", "cpuacct"], path: "/a", deleted: false },
    { hierarchy: 1, controllers: ["name=systemd"], path: "/user.slice", deleted: false },
    { hierarchy: 0, controllers: [], path: "/drums/x:y", deleted: false },
  ]);
});

test("a removed group and one outside the reader's namespace are seen as such", () => {
  expect(parseCgroup("0::/gone (deleted)\n")).toEqual([
    { hierarchy: 0, controllers: [], path: "/gone", deleted: true },
  ]);
  expect(parseCgroup("0::/../other\n")[0]?.path).toBe("/../other");
});

test.each(["0:/x", "x::/", "0::relative"])("%j is refused", (line) => {
  expect(() => parseCgroup(line)).toThrow(expect.objectContaining({ code: "PROC_FORMAT" }));
});

test("this process is in at least one group", async () => {
  expect((await readCgroup("self")).length).toBeGreaterThan(0);
});
