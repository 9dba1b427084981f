import { expect, test } from "vitest";
import { openboxImage } from "../../src/recipes/images/openbox.js";
import { recipeHash } from "../../src/recipes/index.js";

test("a recipe's hash does not change from run to run", () => {
  expect(recipeHash(openboxImage)).toMatch(/^[0-9a-f]{64}$/);
  expect(recipeHash(structuredClone(openboxImage))).toBe(recipeHash(openboxImage));
});

test("the order of a recipe's keys is no part of its hash", () => {
  const reordered = Object.fromEntries(Object.entries(openboxImage).reverse());
  expect(recipeHash(reordered as typeof openboxImage)).toBe(recipeHash(openboxImage));
});

test("whatever changes the image changes the hash", () => {
  const { packages, files, disk, user } = openboxImage;
  const changed = [
    { ...openboxImage, suite: "trixie" },
    { ...openboxImage, packages: [...packages, "zenity"] },
    { ...openboxImage, packages: [...packages].reverse() },
    { ...openboxImage, user: { ...user, uid: 1001 } },
    { ...openboxImage, files: [...files, { path: "/etc/motd", content: "" }] },
    { ...openboxImage, disk: { ...disk, rootMiB: disk.rootMiB + 1 } },
  ];
  const hashes = new Set([openboxImage, ...changed].map(recipeHash));
  expect(hashes.size).toBe(changed.length + 1);
});
