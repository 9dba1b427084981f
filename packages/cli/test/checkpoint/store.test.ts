import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { collectUnfinished, listCheckpoints, makeCheckpoint } from "../../src/checkpoint/store.js";
import { createHome, type Home, homeAt } from "../../src/home.js";

let home: Home;

beforeEach(async () => {
  home = await createHome(homeAt(await mkdtemp(join(tmpdir(), "drums-checkpoints-"))));
});
afterEach(() => rm(home.path, { recursive: true }));

test("a checkpoint has its name only once it is whole", async () => {
  const seen = await makeCheckpoint(home, "a", async ({ path }) => {
    await writeFile(join(path, "manifest.json"), "{}");
    return listCheckpoints(home);
  });
  expect(seen).toEqual([]);
  expect(await listCheckpoints(home)).toEqual(["a"]);
  expect(await readdir(join(home.checkpoints, "a"))).toEqual(["manifest.json"]);
});

test("a failed checkpoint leaves nothing", async () => {
  const failing = makeCheckpoint(home, "a", async ({ path }) => {
    await writeFile(join(path, "half"), "");
    throw new Error("the disk is full");
  });
  await expect(failing).rejects.toThrow("the disk is full");
  expect(await readdir(home.checkpoints)).toEqual([]);
});

test("a name that is taken is refused and what has it stays", async () => {
  await makeCheckpoint(home, "a", async () => undefined);
  await expect(makeCheckpoint(home, "a", async () => undefined)).rejects.toMatchObject({
    code: "CHECKPOINT_EXISTS",
  });
  expect(await listCheckpoints(home)).toEqual(["a"]);
});

test("a name that leaves the folder is refused", async () => {
  await expect(makeCheckpoint(home, "../a", async () => undefined)).rejects.toMatchObject({
    code: "BAD_NAME",
  });
});

test("what a killed process left is collected, what a living one makes is not", async () => {
  await mkdir(join(home.checkpoints, "dead.unfinished"));
  await writeFile(
    join(home.checkpoints, "dead.unfinished", "owner.json"),
    '{"pid":1,"startTime":"999999999999"}',
  );
  await makeCheckpoint(home, "living", async () => {
    expect(await collectUnfinished(home)).toEqual([join(home.checkpoints, "dead.unfinished")]);
  });
  expect(await listCheckpoints(home)).toEqual(["living"]);
});
