import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { digestImage } from "@drums/rootfs";
import { codeOf } from "../errors.js";
import { createHome, type Home, writeJsonFile } from "../home.js";
import { findImageRecipe } from "../recipes/find.js";
import { recipeHash } from "../recipes/hash.js";
import type { ImageRecipe } from "../recipes/types.js";
import { bootstrap } from "./bootstrap.js";
import { customise } from "./customise.js";
import { convertToQcow2, writeRawDisk } from "./disk.js";
import { type InstalledPackage, readPackages } from "./packages.js";
import { type ImageRecord, imagePaths, readImageRecord } from "./record.js";
import { inWorkspace } from "./workspace.js";

/** Runs a named step; a progress display stands behind it. */
export type RunStep = <T>(step: string, run: () => Promise<T>) => Promise<T>;

/** Options of {@link buildImage}. */
export interface BuildImageOptions {
  readonly home: Home;
  /** Runs each step, to show it and how long it takes. Default: shows nothing. */
  readonly step?: RunStep | undefined;
  /** Told what a long step is at. Default: nobody is. */
  readonly onDetail?: ((detail: string) => void) | undefined;
  /** Ends the build; everything that it made is removed. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

/** An image in DRUMS_HOME. */
export interface BuiltImage {
  /** Absolute path of the qcow2 file. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** True when an earlier build was reused. */
  readonly reused: boolean;
  readonly record: ImageRecord;
}

/**
 * Makes the stand-in image of a recipe, or reuses the one that an earlier build of the same recipe left
 * with the sha256 of its record. Needs root, and the programs mmdebstrap, qemu-img and mke2fs.
 * The file appears under its name only when it is whole, and nothing else stays, whatever happens.
 * @param recipe the name of a recipe, or a recipe
 * @throws DrumsError UNKNOWN_IMAGE_RECIPE, IMAGE_BUILD_BUSY, NO_DEBIAN_MIRROR, PROGRAM_MISSING,
 *   PROGRAM_FAILED, INTERRUPTED
 */
export async function buildImage(
  recipe: string | ImageRecipe,
  options: BuildImageOptions,
): Promise<BuiltImage> {
  const chosen = typeof recipe === "string" ? findImageRecipe(recipe) : recipe;
  const home = await createHome(options.home);
  const reused = await findBuilt(chosen, home);
  if (reused !== undefined) return reused;
  return await inWorkspace(home, {
    name: chosen.name,
    build: (scratch) => buildIn(scratch, { ...options, recipe: chosen, home }),
  });
}

/** The image of a recipe, where one is there whole; one whose sha256 is not its record's does not count. */
async function findBuilt(recipe: ImageRecipe, home: Home): Promise<BuiltImage | undefined> {
  const { image: path } = imagePaths(recipe, home);
  try {
    const record = await readImageRecord(path);
    const { sha256, bytes } = await digestImage(path, { cacheDir: home.cache });
    if (sha256 !== record.sha256) return undefined;
    return { path, sha256, bytes, reused: true, record };
  } catch (error) {
    const absent = ["RECORD_MISSING", "RECORD_INVALID", "RECORD_NOT_JSON", "NO_SUCH_IMAGE"];
    if (absent.includes(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}

async function buildIn(
  scratch: string,
  { recipe, home, signal, step = (_, run) => run(), onDetail }: BuildImageOptions & { recipe: ImageRecipe },
): Promise<BuiltImage> {
  const [root, raw, qcow2] = ["root", "disk.raw", "disk.qcow2"].map((name) => join(scratch, name)) as [
    string,
    string,
    string,
  ];
  const steps = timedSteps(step, signal);
  await mkdir(root, { mode: 0o755 });
  await steps.run("bootstrap", () => bootstrap(recipe, { root, scratch, signal, onDetail }));
  await steps.run("customise", () => customise(recipe, { root, signal }));
  const packages = await readPackages(root, { signal });
  await steps.run("write the disk", () => writeRawDisk(recipe, { root, raw, signal }));
  await steps.run("compress to qcow2", () => convertToQcow2(raw, { target: qcow2, signal }));
  const { sha256 } = await steps.run("digest", () => digestImage(qcow2));
  const record = await recordOf(qcow2, { recipe, sha256, packages, steps: steps.times });
  await publish(qcow2, { recipe, home, record });
  return { path: imagePaths(recipe, home).image, sha256, bytes: record.bytes, reused: false, record };
}

async function recordOf(
  qcow2: string,
  facts: { recipe: ImageRecipe; sha256: string; packages: InstalledPackage[]; steps: ImageRecord["steps"] },
): Promise<ImageRecord> {
  const { recipe, ...rest } = facts;
  return {
    schema: 1,
    ...rest,
    bytes: (await stat(qcow2)).size,
    recipe: { name: recipe.name, hash: recipeHash(recipe) },
    builtAt: new Date().toISOString(),
  };
}

/** The record goes first away and comes last, so that an image is never beside the record of another. */
async function publish(
  qcow2: string,
  { recipe, home, record }: { recipe: ImageRecipe; home: Home; record: ImageRecord },
): Promise<void> {
  const paths = imagePaths(recipe, home);
  await rm(paths.record, { force: true });
  await rename(qcow2, paths.image);
  await writeJsonFile(paths.record, record);
}

/** Steps one after another, each with its time, none begun after an abort. */
function timedSteps(step: RunStep, signal: AbortSignal | undefined) {
  const times: { step: string; ms: number }[] = [];
  const run: RunStep = async (name, body) => {
    signal?.throwIfAborted();
    const start = performance.now();
    const result = await step(name, body);
    times.push({ step: name, ms: Math.round(performance.now() - start) });
    return result;
  };
  return { times, run };
}
