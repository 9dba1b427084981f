import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  assertNotDeleted,
  checkpointUsers,
  collectDeleted,
  removeCheckpoint,
} from "../../src/checkpoint/remove.js";
import { checkpointFolder, listCheckpoints } from "../../src/checkpoint/store.js";
import { createHome, type Home, homeAt } from "../../src/home.js";
import { identify } from "../../src/session/identity.js";
import { createSessionFolder } from "../../src/session/store.js";

let home: Home;
beforeEach(async () => {
  home = await createHome(homeAt(await mkdtemp(join(tmpdir(), "drums-remove-"))));
});
afterEach(() => rm(home.path, { recursive: true }));

/** A checkpoint whose manifest names these layers. */
async function checkpoint(name: string, ...layers: string[]): Promise<void> {
  const folder = checkpointFolder(home, name);
  for (const path of [folder.images, folder.upper, folder.log]) await mkdir(path, { recursive: true });
  await writeFile(join(folder.path, "checkpoint.json"), JSON.stringify({ layers }));
}

/** A session on a checkpoint's upper. */
async function session(name: string, state: "booting" | "running"): Promise<string> {
  const folder = await createSessionFolder(home, "openbox");
  const owner = await identify(process.pid);
  await folder.write({
    version: 1,
    id: folder.id,
    state,
    createdAt: "",
    owner,
    init: owner,
    externals: [],
    spec: {
      image: { path: "/i", sha256: "0".repeat(64) },
      desktop: "openbox",
      profile: "compat",
      hostname: "h",
      network: "none",
      publish: [],
      layers: [{ kind: "upper", path: checkpointFolder(home, name).upper, digest: "d", idmap: false }],
    },
  });
  return folder.id;
}

test("a checkpoint on which nothing stands goes whole", async () => {
  await checkpoint("a");
  expect(await removeCheckpoint(home, "a")).toEqual({ name: "a", keptFor: [] });
  expect(await readdir(home.checkpoints)).toEqual([]);
});

test("layers stay for a session and for a checkpoint of it, and go with the last of them", async () => {
  await checkpoint("a");
  await checkpoint("b", "home:checkpoints/a/upper");
  const id = await session("a", "running");
  expect(await removeCheckpoint(home, "a")).toEqual({ name: "a", keptFor: [id, "b"] });
  expect(await readdir(checkpointFolder(home, "a").path)).toEqual(["deleted.json", "upper"]);
  expect(await listCheckpoints(home)).toEqual(["b"]);

  await rm(join(home.sessions, id), { recursive: true });
  expect(await collectDeleted(home)).toEqual([]);
  await removeCheckpoint(home, "b");
  expect(await collectDeleted(home)).toEqual(["a"]);
  expect(await readdir(home.checkpoints)).toEqual([]);
});

test("a checkpoint whose name begins alike holds nothing", async () => {
  await checkpoint("a");
  await checkpoint("b", "home:checkpoints/a-second/upper");
  expect((await checkpointUsers(home, "a")).checkpoints).toEqual([]);
});

test("while a sibling is being restored from the images, nothing is deleted", async () => {
  await checkpoint("a");
  const id = await session("a", "booting");
  await expect(removeCheckpoint(home, "a")).rejects.toMatchObject({
    code: "CHECKPOINT_IN_USE",
    why: expect.stringContaining(id),
  });
  expect(await listCheckpoints(home)).toEqual(["a"]);
  expect(() => assertNotDeleted(home, "a")).not.toThrow();
});

test("a restore that comes after the deletion is refused", async () => {
  await checkpoint("a");
  await session("a", "running");
  await removeCheckpoint(home, "a");
  expect(() => assertNotDeleted(home, "a")).toThrowError(
    expect.objectContaining({ code: "CHECKPOINT_DELETED" }),
  );
});

test("a deletion that was cut short is finished by the next collection", async () => {
  await checkpoint("a");
  const id = await session("a", "running");
  await writeFile(checkpointFolder(home, "a").deleted, "{}");
  expect(await collectDeleted(home)).toEqual([]);
  expect(await readdir(checkpointFolder(home, "a").path)).toEqual(["deleted.json", "upper"]);
  expect((await checkpointUsers(home, "a")).sessions).toEqual([id]);
});
