import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  assertRestorable,
  type CheckpointManifest,
  DEFAULT_FLAGS,
  parseManifest,
  readManifest,
  writeManifest,
} from "../../src/index.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drums-manifest-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const MANIFEST: CheckpointManifest = {
  format: 1,
  createdAt: "2026-01-01T00:00:00.000Z",
  criu: { version: "4.2.1", digest: "d" },
  kernel: "6.1.0",
  flags: { ...DEFAULT_FLAGS },
  layers: [
    { name: "upper", digest: "u" },
    { name: "root", digest: "r" },
  ],
  externals: [{ mountPoint: "/dev", key: "dev" }],
  limits: { nofile: 1024 },
  session: { profile: "compat", anything: [1, 2] },
  images: [{ name: "inventory.img", bytes: 41 }],
};
const GROUND = { criu: { version: "4.2.1" }, layers: MANIFEST.layers, externals: [{ key: "dev" }] };

test("what is written is read back the same, and no half file is left", async () => {
  await writeManifest(folder, MANIFEST);
  expect(await readManifest(folder)).toEqual(MANIFEST);
  expect(await readdir(folder)).toEqual(["checkpoint.json"]);
});

test("a folder without a manifest is no checkpoint", async () => {
  await expect(readManifest(folder)).rejects.toMatchObject({
    code: "MANIFEST_UNREADABLE",
    facts: { path: join(folder, "checkpoint.json") },
  });
});

test.each([
  ["text that is no JSON", "{"],
  ["another format", JSON.stringify({ ...MANIFEST, format: 2 })],
  ["a missing field", JSON.stringify({ ...MANIFEST, flags: {} })],
])("%s is refused", async (_, text) => {
  await writeFile(join(folder, "checkpoint.json"), text);
  await expect(readManifest(folder)).rejects.toMatchObject({ code: "MANIFEST_INVALID" });
  expect(() => parseManifest(text)).toThrowError(/no checkpoint manifest of format 1/);
});

describe("before CRIU is called", () => {
  test("the ground of the checkpoint itself passes", () => {
    expect(() => assertRestorable(MANIFEST, GROUND)).not.toThrow();
  });

  test("an older CRIU is refused", () => {
    expect(() => assertRestorable(MANIFEST, { ...GROUND, criu: { version: "4.1.1" } })).toThrowError(
      expect.objectContaining({ code: "CRIU_VERSION_MISMATCH", facts: { needed: "4.2.1", found: "4.1.1" } }),
    );
  });

  test("a newer CRIU is refused unless it was asked for", () => {
    const newer = { ...GROUND, criu: { version: "4.3" } };
    expect(() => assertRestorable(MANIFEST, newer)).toThrowError(
      expect.objectContaining({ code: "CRIU_VERSION_MISMATCH" }),
    );
    expect(() => assertRestorable(MANIFEST, { ...newer, allowNewer: true })).not.toThrow();
  });

  test("a changed layer is refused by name", () => {
    const layers = [
      { name: "upper", digest: "u" },
      { name: "root", digest: "changed" },
    ];
    expect(() => assertRestorable(MANIFEST, { ...GROUND, layers })).toThrowError(
      expect.objectContaining({
        code: "LAYER_CHANGED",
        facts: { layer: "root", expected: "r", found: "changed" },
      }),
    );
  });

  test.each([
    ["missing", [MANIFEST.layers[0]]],
    ["too many", [...MANIFEST.layers, { name: "extra", digest: "e" }]],
    ["swapped", [...MANIFEST.layers].reverse()],
  ])("layers that are %s are refused", (_, layers) => {
    const given = layers.filter((layer) => layer !== undefined);
    expect(() => assertRestorable(MANIFEST, { ...GROUND, layers: given })).toThrowError(
      expect.objectContaining({ code: "LAYER_CHANGED" }),
    );
  });

  test("an external that nothing is given for is refused", () => {
    expect(() => assertRestorable(MANIFEST, { ...GROUND, externals: [] })).toThrowError(
      expect.objectContaining({ code: "EXTERNAL_MISSING", facts: { key: "dev", mountPoint: "/dev" } }),
    );
  });

  test("a limit below the checkpoint's is refused, as it would cap the tasks in silence", () => {
    expect(() => assertRestorable(MANIFEST, { ...GROUND, limits: { nofile: 1024 } })).not.toThrow();
    expect(() => assertRestorable(MANIFEST, { ...GROUND, limits: { nofile: 256 } })).toThrowError(
      expect.objectContaining({
        code: "LIMIT_TOO_LOW",
        facts: { limit: "nofile", needed: 1024, found: 256 },
      }),
    );
  });

  test("a limit where the checkpoint had none is refused, and none suits every checkpoint", () => {
    const unlimited = { ...MANIFEST, limits: { nofile: null } };
    expect(() => assertRestorable(unlimited, { ...GROUND, limits: { nofile: null } })).not.toThrow();
    expect(() => assertRestorable(MANIFEST, { ...GROUND, limits: { nofile: null } })).not.toThrow();
    expect(() => assertRestorable(unlimited, { ...GROUND, limits: { nofile: 256 } })).toThrowError(
      expect.objectContaining({
        code: "LIMIT_TOO_LOW",
        facts: expect.objectContaining({ needed: "unlimited" }),
      }),
    );
  });
});
