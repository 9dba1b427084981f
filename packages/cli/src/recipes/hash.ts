import { createHash } from "node:crypto";
import type { ImageRecipe } from "./types.js";

/** Raised when the way an image is built changes what the same recipe gives. */
const BUILD_FORMAT = 2;

/**
 * sha256 of a recipe in hexadecimal, the same for equal recipes whatever the order of their keys.
 * It does not cover the package versions, which are what the machine's mirror serves on the day:
 * those are written into the image's record.
 */
export function recipeHash(recipe: ImageRecipe): string {
  const text = canonicalJson({ format: BUILD_FORMAT, recipe });
  return createHash("sha256").update(text).digest("hex");
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${entries.join(",")}}`;
}
