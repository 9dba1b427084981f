import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_FLAGS, writeManifest } from "@drums/criu";
import { digestLayer } from "@drums/rootfs";
import { toPlace } from "../../src/checkpoint/places.js";
import { type CheckpointFolder, checkpointFolder } from "../../src/checkpoint/store.js";
import type { Home } from "../../src/home.js";

/** CRIU's image of a tree with one process, as criu/pstree.c writes it: two magic numbers and an entry. */
const PSTREE = Buffer.from("1943565430302750" + "0a000000" + "08011000180120012801", "hex");

/** A checkpoint in all but its processes: a manifest, an image of a tree, an upper and a second layer. */
export async function fakeCheckpoint(
  home: Home,
  name: string,
  { fill = async () => {} }: { readonly fill?: (upper: string) => Promise<void> } = {},
): Promise<CheckpointFolder> {
  const folder = checkpointFolder(home, name);
  const image = join(home.images, "disk.raw");
  const init = join(home.layers, "init-1", "root");
  for (const path of [folder.images, folder.upper, folder.log, init]) await mkdir(path, { recursive: true });
  await writeFile(image, "a disk");
  await writeFile(join(init, "drums-init"), "#!");
  await writeFile(join(folder.log, "dump.log"), "done\n");
  await writeFile(join(folder.images, "pstree.img"), PSTREE);
  await writeFile(join(folder.upper, "marker"), name);
  await fill(folder.upper);
  const place = (path: string) => toPlace(path, { home, folder });
  const layers = await Promise.all(
    [
      { kind: "upper", path: folder.upper, idmap: false },
      { kind: "init", path: init, idmap: true },
    ].map(async (layer) => ({ ...layer, path: place(layer.path), digest: await digestLayer(layer.path) })),
  );
  await writeManifest(folder.path, {
    format: 1,
    createdAt: "2026-01-01T00:00:00.000Z",
    criu: { version: "4.2.1", digest: "d" },
    kernel: "6.1.0",
    flags: { ...DEFAULT_FLAGS },
    layers: layers.map(({ path, digest }) => ({ name: path, digest })),
    externals: [],
    limits: {},
    session: {
      image: { path: place(image), sha256: createHash("sha256").update("a disk").digest("hex") },
      desktop: "openbox",
      profile: "compat",
      hostname: "h",
      layers,
    },
    images: [{ name: "pstree.img", bytes: PSTREE.length }],
  });
  return folder;
}
