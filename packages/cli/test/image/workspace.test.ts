import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHome, type Home, homeAt } from "../../src/home.js";
import { inWorkspace } from "../../src/image/workspace.js";

let home: Home;
beforeEach(async () => {
  home = await createHome(homeAt(await mkdtemp(join(tmpdir(), "drums-images-"))));
});
afterEach(() => rm(home.path, { recursive: true, force: true }));

test("a build has an empty folder, which is gone afterwards, also when the build fails", async () => {
  const build = async (scratch: string) => {
    const before = await readdir(scratch);
    await writeFile(join(scratch, "half.qcow2"), "");
    return before;
  };
  expect(await inWorkspace(home, { name: "openbox", build })).toEqual([]);
  expect(await readdir(home.images)).toEqual([]);
  const failing = async (scratch: string) => {
    await build(scratch);
    throw new Error("no space");
  };
  await expect(inWorkspace(home, { name: "openbox", build: failing })).rejects.toThrow("no space");
  expect(await readdir(home.images)).toEqual([]);
});

test("of builds that begin at the same moment exactly one goes on, one of another image as well", async () => {
  let end: (value: string) => void = () => {};
  const ended = new Promise<string>((resolve) => {
    end = resolve;
  });
  const begin = (name: string) => inWorkspace(home, { name, build: () => ended });
  const same = Promise.allSettled(Array.from({ length: 8 }, () => begin("openbox")));
  const other = begin("gnome");
  await expect(begin("openbox")).rejects.toMatchObject({ code: "IMAGE_BUILD_BUSY" });
  end("built");
  const outcomes = await same;
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await other).toBe("built");
});

test("what a killed build left is removed by the next", async () => {
  await mkdir(join(home.images, ".build-openbox", "root"), { recursive: true });
  expect(await inWorkspace(home, { name: "openbox", build: (scratch) => readdir(scratch) })).toEqual([]);
});
