import { digestLayer, stampLayer } from "@drums/rootfs";
import { z } from "zod";
import { codeOf } from "../errors.js";
import { readJsonFile, writeJsonFile } from "../home.js";
import type { SessionSpec } from "../session/record.js";

const knownSchema = z.object({
  version: z.literal(1),
  layers: z.array(z.object({ path: z.string(), stamp: z.string(), digest: z.string() })),
});

/** What was found of a layer; without a stamp it cannot be known again. */
interface Found {
  readonly path: string;
  readonly stamp: string | undefined;
  readonly digest: string;
}

/**
 * The digests of a session's layers as they are now, in the form that `assertRestorable` compares. A layer that is not
 * there has a digest that no other has, so that it is refused by name.
 * @param options.known  a file that keeps what was found: a layer whose entries are as they were is not read again,
 *   which would be on the path of every fork. Default: each is read.
 */
export async function layerDigests(
  { layers }: SessionSpec,
  { known }: { readonly known?: string } = {},
): Promise<{ name: string; digest: string }[]> {
  const before = known === undefined ? [] : await readKnown(known);
  const found = await Promise.all(layers.map(({ path }) => findDigest(path, before)));
  const isNew = (one: Found) => one.stamp !== undefined && !before.includes(one);
  if (known !== undefined && found.some(isNew))
    await writeJsonFile(known, { version: 1, layers: found.filter(({ stamp }) => stamp !== undefined) });
  return found.map(({ path, digest }) => ({ name: path, digest }));
}

async function readKnown(file: string): Promise<readonly Found[]> {
  return readJsonFile(file, knownSchema).then(
    ({ layers }) => layers,
    () => [],
  );
}

/** The stamp is taken before the digest: a change in between is met by the next stamp. */
async function findDigest(path: string, before: readonly Found[]): Promise<Found> {
  try {
    const stamp = await stampLayer(path);
    const same = before.find((one) => one.path === path && one.stamp === stamp);
    return same ?? { path, stamp, digest: await digestLayer(path) };
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return { path, stamp: undefined, digest: "missing" };
  }
}
