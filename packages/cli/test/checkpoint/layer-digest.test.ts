import { appendFile, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { digestLayer } from "@drums/rootfs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { layerDigests } from "../../src/checkpoint/layer-digest.js";
import type { SessionSpec } from "../../src/session/record.js";

/** Longer than the kernel's clock of file times takes for a tick. */
const A_TICK_MS = 150;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drums-digests-"));
  await mkdir(join(folder, "layer"));
  await writeFile(join(folder, "layer/file"), "a text");
});
afterEach(() => rm(folder, { recursive: true }));

function digests() {
  const layer = { kind: "upper", path: join(folder, "layer"), digest: "", idmap: false } as const;
  return layerDigests({ layers: [layer] } as unknown as SessionSpec, { known: join(folder, "known.json") });
}

test("a layer's digest is kept, and holds until the layer changes", async () => {
  const [layer, known] = [join(folder, "layer"), join(folder, "known.json")];
  await sleep(A_TICK_MS);
  const first = await digests();
  expect(first).toEqual([{ name: layer, digest: await digestLayer(layer) }]);
  const marked = (await readFile(known, "utf8")).replace(first[0]?.digest ?? "", "kept");
  await writeFile(known, marked);
  expect(await digests()).toEqual([{ name: layer, digest: "kept" }]);
  await appendFile(join(layer, "file"), "!");
  await utimes(join(layer, "file"), new Date(0), new Date(0));
  expect(await digests()).toEqual([{ name: layer, digest: await digestLayer(layer) }]);
});

test("a layer that is not there is called missing, and spoilt notes are passed over", async () => {
  await writeFile(join(folder, "known.json"), "{");
  expect(await digests()).toEqual([
    { name: join(folder, "layer"), digest: await digestLayer(join(folder, "layer")) },
  ]);
  await rm(join(folder, "layer"), { recursive: true });
  expect(await digests()).toEqual([{ name: join(folder, "layer"), digest: "missing" }]);
});
