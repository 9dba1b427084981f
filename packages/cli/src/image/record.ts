import { join } from "node:path";
import { z } from "zod";
import { type Home, readJsonFile } from "../home.js";
import { recipeHash } from "../recipes/hash.js";
import type { ImageRecipe } from "../recipes/types.js";

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

/** `images/NAME.json` beside the image that it describes. */
export const imageRecordSchema = z.object({
  schema: z.literal(1),
  sha256: sha256Schema,
  bytes: z.number().int().positive(),
  recipe: z.object({ name: z.string(), hash: sha256Schema }),
  /** Every package of the root, as dpkg names it. */
  packages: z.array(z.object({ name: z.string(), version: z.string(), architecture: z.string() })),
  /** ISO 8601. */
  builtAt: z.string(),
  steps: z.array(z.object({ step: z.string(), ms: z.number().nonnegative() })),
});

export type ImageRecord = z.infer<typeof imageRecordSchema>;

/** Where a recipe's image and its record live: named by the recipe's hash, so that another recipe is another image. */
export function imagePaths(
  recipe: ImageRecipe,
  home: Home,
): { readonly image: string; readonly record: string } {
  const image = join(home.images, `${recipe.name}-${recipeHash(recipe).slice(0, 12)}.qcow2`);
  return { image, record: recordPath(image) };
}

/** The record that lies beside an image file. */
export function recordPath(image: string): string {
  return `${image.replace(/\.(?:qcow2|raw|img)$/, "")}.json`;
}

/** @throws DrumsError RECORD_MISSING, RECORD_NOT_JSON, RECORD_INVALID, RECORD_READ */
export async function readImageRecord(image: string): Promise<ImageRecord> {
  return await readJsonFile(recordPath(image), imageRecordSchema);
}
