import { createHash, randomBytes } from "node:crypto";
import { appendFile, mkdir, open, readdir, rename, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestImage, verifyImage } from "../../src/index.js";
import { temporaryFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const settle = () => new Promise((resolve) => setTimeout(resolve, 1100));

test("the digest of a file of several chunks is its sha256, with progress to the last byte", async () => {
  const folder = await temporaryFolder();
  const bytes = randomBytes(3 * 1024 * 1024 + 17);
  const path = join(folder, "image");
  await writeFile(path, bytes);
  const seen: number[] = [];
  const digest = await digestImage(path, { onProgress: ({ bytesDone }) => seen.push(bytesDone) });
  expect(digest).toMatchObject({ sha256: sha256(bytes), bytes: bytes.length, cached: false });
  expect(seen.at(-1)).toBe(bytes.length);
  expect(seen.length).toBeGreaterThan(2);
});

test("an unchanged file comes from the cache, and never once it was changed, replaced or back-dated", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "image");
  const cacheDir = join(folder, "cache");
  await writeFile(path, "first");
  await settle();
  await digestImage(path, { cacheDir });
  expect(await digestImage(path, { cacheDir })).toMatchObject({ cached: true });
  expect((await readdir(cacheDir)).filter((name) => name.endsWith(".tmp"))).toEqual([]);

  const { mtime } = await stat(path);
  const file = await open(path, "r+");
  await file.write("FIRST");
  await file.close();
  await utimes(path, mtime, mtime); // same size, same mtime: only ctime tells
  expect(await digestImage(path, { cacheDir })).toMatchObject({
    cached: false,
    sha256: sha256(Buffer.from("FIRST")),
  });

  await writeFile(join(folder, "other"), "other");
  await rename(join(folder, "other"), path);
  expect(await digestImage(path, { cacheDir })).toMatchObject({
    cached: false,
    sha256: sha256(Buffer.from("other")),
  });
});

test("a file that was changed a moment ago is not cached: the next change could leave no trace", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "image");
  const cacheDir = join(folder, "cache");
  await writeFile(path, "fresh");
  await digestImage(path, { cacheDir });
  expect(await digestImage(path, { cacheDir })).toMatchObject({ cached: false });
});

test("a spoilt cache entry costs a hash and is replaced", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "image");
  const cacheDir = join(folder, "cache");
  await writeFile(path, "content");
  await settle();
  const { identity } = await digestImage(path, { cacheDir });
  await writeFile(join(cacheDir, `sha256-${identity.device}-${identity.inode}.json`), "{ half");
  expect(await digestImage(path, { cacheDir })).toMatchObject({ cached: false });
  expect(await digestImage(path, { cacheDir })).toMatchObject({ cached: true });
});

test("a file that grows while it is read is refused", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "image");
  await writeFile(path, randomBytes(2 * 1024 * 1024));
  let grown: Promise<void> | undefined;
  const onProgress = () => {
    grown ??= appendFile(path, "more");
  };
  await failure(() => digestImage(path, { onProgress }), "IMAGE_CHANGED");
  await grown;
});

test("a wrong sha256 is refused, with both sums as facts", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "image");
  await writeFile(path, "content");
  const found = sha256(Buffer.from("content"));
  await expect(verifyImage(path, { expected: found.toUpperCase() })).resolves.toMatchObject({
    sha256: found,
  });
  const error = await failure(() => verifyImage(path, { expected: "0".repeat(64) }), "IMAGE_DIGEST_MISMATCH");
  expect(error.facts).toMatchObject({ expected: "0".repeat(64), found });
  await failure(() => verifyImage(path, { expected: "abc" }), "IMAGE_DIGEST_MISMATCH");
});

test("a missing file and a folder are refused by name", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "sub"));
  await failure(() => digestImage(join(folder, "missing")), "NO_SUCH_IMAGE");
  await failure(() => digestImage(join(folder, "sub")), "NOT_A_FILE");
});
