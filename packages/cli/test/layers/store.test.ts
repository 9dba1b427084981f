import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digestLayer, folderLayer } from "@drums/rootfs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHome, type Home, homeAt } from "../../src/home.js";
import { collectUnfinishedLayers, keepLayer, type MadeLayer } from "../../src/layers/store.js";

let home: Home;
let made = 0;
beforeEach(async () => {
  home = await createHome(homeAt(await mkdtemp(join(tmpdir(), "drums-layers-"))));
  made = 0;
});
afterEach(() => rm(home.path, { recursive: true, force: true }));

async function make(target: string): Promise<MadeLayer> {
  made += 1;
  const entries = [{ path: "/etc/motd", content: "hello\n" }];
  return { layer: await folderLayer({ entries, target }), debs: [] };
}

const keep = () => keepLayer(home, { name: "motd-1", make });

test("a layer is made once, and its digest is that of its content", async () => {
  const first = await keep();
  expect(first).toEqual({
    path: join(home.layers, "motd-1", "root"),
    digest: await digestLayer(first.path),
    files: 2,
    debs: [],
  });
  expect(await keep()).toEqual(first);
  expect(made).toBe(1);
});

test("callers at the same moment get one and the same layer, and nothing else stays", async () => {
  const layers = await Promise.all(Array.from({ length: 5 }, keep));
  expect(new Set(layers.map(({ path, digest }) => `${path} ${digest}`)).size).toBe(1);
  expect(await readdir(home.layers)).toEqual(["motd-1"]);
});

test("a layer that changed is refused, for sessions may stand on it", async () => {
  const { path } = await keep();
  await writeFile(join(path, "etc/motd"), "changed\n");
  await expect(keep()).rejects.toMatchObject({ code: "LAYER_CHANGED", where: path });
  expect(made).toBe(1);
});

test("a layer that cannot be made leaves nothing", async () => {
  const failing = async (target: string): Promise<MadeLayer> => {
    await make(target);
    throw new Error("no space");
  };
  await expect(keepLayer(home, { name: "motd-1", make: failing })).rejects.toThrow("no space");
  expect(await readdir(home.layers)).toEqual([]);
});

test("what a killed maker left is collected, and what is being made is not", async () => {
  const dead = [".new-1-1-motd-abc", ".new-motd-of-old"];
  for (const name of dead) await mkdir(join(home.layers, name, "root"), { recursive: true });
  let collected: string[] | undefined;
  const layer = await keepLayer(home, {
    name: "motd-1",
    make: async (target) => {
      collected = await collectUnfinishedLayers(home);
      return make(target);
    },
  });
  expect(collected?.sort()).toEqual(dead.map((name) => join(home.layers, name)));
  expect(await readdir(home.layers)).toEqual(["motd-1"]);
  expect(layer.files).toBe(2);
});
