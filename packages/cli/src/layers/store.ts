import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { digestLayer, type Layer } from "@drums/rootfs";
import { z } from "zod";
import { codeOf, DrumsError } from "../errors.js";
import { type Home, readJsonFile, writeJsonFile } from "../home.js";
import { identify, isAlive } from "../session/identity.js";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const layerRecordSchema = z.object({
  schema: z.literal(1),
  /** By `digestLayer` of `@drums/rootfs`. */
  digest: z.string().min(1),
  files: z.number().int().nonnegative(),
  /** The packages it came from: the hash that was pinned and the one that the file had. */
  debs: z.array(z.object({ name: z.string(), version: z.string(), expectedSha256: sha256, sha256 })),
});

/** A package that a layer came from. */
export type LayerDeb = z.infer<typeof layerRecordSchema>["debs"][number];

/** What a layer's maker made. */
export interface MadeLayer {
  readonly layer: Layer;
  readonly debs: readonly LayerDeb[];
}

/** Makes a layer at a path that does not exist yet. */
type MakeLayer = (target: string) => Promise<MadeLayer>;

/** A read-only folder to be put over a root. */
export interface StoredLayer {
  /** Absolute path of the folder to mount. */
  readonly path: string;
  readonly digest: string;
  /** How many entries of all kinds it brings. */
  readonly files: number;
  readonly debs: readonly LayerDeb[];
}

/**
 * Gives the layer of a name, made at the first call. The name stands for the content (it holds a hash of what
 * the layer is made from), so a layer never changes; one that did is refused, for sessions may stand on it.
 * @param make makes it and says which packages it came from
 * @throws DrumsError LAYER_CHANGED, and what `make` throws
 */
export async function keepLayer(
  home: Home,
  { name, make }: { readonly name: string; readonly make: MakeLayer },
): Promise<StoredLayer> {
  const folder = home.entry("layers", name);
  return (await findLayer(folder)) ?? (await makeLayer(folder, { home, name, make }));
}

async function findLayer(folder: string): Promise<StoredLayer | undefined> {
  const path = join(folder, ROOT);
  try {
    const { digest, files, debs } = await readJsonFile(join(folder, RECORD), layerRecordSchema);
    const found = await digestLayer(path);
    if (found !== digest) throw changed(path, { expected: digest, found });
    return { path, digest, files, debs };
  } catch (error) {
    if (codeOf(error) === "RECORD_MISSING") return undefined;
    throw error;
  }
}

/** Made beside its place and renamed into it whole, so that another process meets all of it or nothing. */
async function makeLayer(
  folder: string,
  { home, name, make }: { home: Home; name: string; make: MakeLayer },
): Promise<StoredLayer> {
  await mkdir(home.layers, { recursive: true, mode: 0o700 });
  const { pid, startTime } = await identify(process.pid);
  const made = await mkdtemp(join(home.layers, `${UNFINISHED}${pid}-${startTime}-${name}-`));
  try {
    const { layer, debs } = await make(join(made, ROOT));
    const facts = { digest: layer.digest, files: layer.files, debs: [...debs] };
    await writeJsonFile(join(made, RECORD), { schema: 1, ...facts });
    await rename(made, folder);
    return { path: join(folder, ROOT), ...facts };
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    const winner = isTaken(error) ? await findLayer(folder) : undefined;
    if (winner === undefined) throw error;
    return winner;
  }
}

/**
 * Removes layers whose maker was killed before they were whole; one that is still being made is not touched.
 * @returns the folders that were removed
 */
export async function collectUnfinishedLayers(home: Home): Promise<string[]> {
  const removed: string[] = [];
  for (const name of await readdir(home.layers).catch(() => [])) {
    if (!name.startsWith(UNFINISHED)) continue;
    const [, pid = "0", startTime = ""] = /^(\d+)-(\d+)-/.exec(name.slice(UNFINISHED.length)) ?? [];
    if (await isAlive({ pid: Number(pid), startTime })) continue;
    const folder = join(home.layers, name);
    await rm(folder, { recursive: true, force: true });
    removed.push(folder);
  }
  return removed;
}

/** Followed by its maker's pid and start time. */
const UNFINISHED = ".new-";
const ROOT = "root";
const RECORD = "layer.json";

/** rename(2) onto a folder that another process put there meanwhile. */
function isTaken(error: unknown): boolean {
  return codeOf(error) === "ENOTEMPTY" || codeOf(error) === "EEXIST";
}

function changed(path: string, { expected, found }: { expected: string; found: string }): DrumsError {
  return new DrumsError({
    code: "LAYER_CHANGED",
    what: "a layer is not what was made",
    where: path,
    why: `its digest is ${found}, its record says ${expected}`,
    hint: "end the sessions that stand on it and remove its folder; it is made anew when it is needed",
  });
}
