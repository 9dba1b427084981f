import { randomBytes } from "node:crypto";
import { chmod, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RootfsError } from "../errors.js";
import { exists } from "../files.js";
import { describeLayer, type Layer } from "./digest.js";

/**
 * Builds a layer in a folder beside its target and renames it when it is whole, so that a layer that
 * is there is complete.
 *
 * @param fill fills the empty folder given to it; `scratch` is another one, gone afterwards
 * @throws RootfsError LAYER_EXISTS, and whatever `fill` throws; nothing stays then
 */
export async function buildLayer(
  target: string,
  fill: (folder: string, scratch: string) => Promise<void>,
): Promise<Layer> {
  if (await exists(target)) throw layerExists(target);
  const work = join(dirname(target), `.layer-${process.pid}-${randomBytes(4).toString("hex")}`);
  const [folder, scratch] = [join(work, "layer"), join(work, "scratch")];
  try {
    await mkdir(folder, { recursive: true });
    await mkdir(scratch);
    // The topmost layer's "/" gives the session's "/" its mode.
    await chmod(folder, 0o755);
    await fill(folder, scratch);
    const { digest, files } = await describeLayer(folder);
    if (await exists(target)) throw layerExists(target);
    await rename(folder, target);
    return { path: target, digest, files };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function layerExists(target: string): RootfsError {
  return new RootfsError("LAYER_EXISTS", `${target} exists already`, {
    path: target,
    hint: "Use it (digestLayer tells what it is), or give another path.",
  });
}
