import { copyFile, mkdtemp, open, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterEach, beforeEach, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { checkImage } from "../../src/image/index.js";
import { recordPath } from "../../src/image/record.js";
import { IMAGE_TIMEOUT_MS, testImage } from "../support/test-image.js";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "drums-check-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const refusals = async (path: string, options = {}) =>
  (await checkImage(path, options)).findings
    .filter(({ ok }) => !ok)
    .map(({ name, code }) => `${name}: ${code}`);

async function qcow2(name: string, ...args: string[]): Promise<string> {
  const path = join(dir, name);
  await execa("qemu-img", ["create", "-q", "-f", "qcow2", ...args, path, "8M"]);
  return path;
}

testNeeding(
  ["root", "program:mmdebstrap", "program:qemu-img", "program:mke2fs"],
  "a built image is usable, and is the one of its record",
  async () => {
    const { path, sha256 } = await testImage();
    const { ok, findings, sha256: found } = await checkImage(path);
    expect([ok, found]).toEqual([true, sha256]);
    expect(findings.map(({ name }) => name)).toEqual(["header", "root partition", "journal", "sha256"]);
    expect(findings.at(-1)?.detail).toContain("as pinned");
  },
  IMAGE_TIMEOUT_MS,
);

testNeeding(
  ["root", "program:mmdebstrap", "program:qemu-img", "program:mke2fs"],
  "one changed byte makes it another image, by its record and by a sha256 that is given",
  async () => {
    const { path, sha256 } = await testImage();
    const copy = join(dir, "copy.qcow2");
    await copyFile(path, copy);
    await copyFile(recordPath(path), recordPath(copy));
    const file = await open(copy, "r+");
    await file.write(Buffer.from("x"), 0, 1, 1_000_000);
    await file.close();
    expect(await refusals(copy)).toContain("sha256: IMAGE_DIGEST_MISMATCH");
    expect(await refusals(copy, { expected: sha256 })).toContain("sha256: IMAGE_DIGEST_MISMATCH");
    expect(await refusals(path, { expected: "0".repeat(64) })).toEqual(["sha256: IMAGE_DIGEST_MISMATCH"]);
  },
  IMAGE_TIMEOUT_MS,
);

test("a file named qcow2 that is none is refused by its header, not taken for a raw disk", async () => {
  const path = join(dir, "fake.qcow2");
  await writeFile(path, "this is a letter, not a disk".repeat(1000));
  expect(await refusals(path)).toEqual(["header: NOT_QCOW2"]);
});

testNeeding(["program:qemu-img"], "a qcow2 with a backing file is refused", async () => {
  const base = await qcow2("base.qcow2");
  expect(await refusals(await qcow2("top.qcow2", "-b", base, "-F", "qcow2"))).toEqual([
    "header: BACKING_FILE",
  ]);
});

testNeeding(["program:qemu-img"], "a qcow2 with an external data file is refused", async () => {
  const path = await qcow2("outside.qcow2", "-o", `data_file=${join(dir, "data.raw")}`);
  expect(await refusals(path)).toEqual(["header: DATA_FILE"]);
});

testNeeding(["program:qemu-img"], "a qcow2 that is cut short is refused", async () => {
  const path = await qcow2("cut.qcow2", "-o", "preallocation=full");
  await truncate(path, 5_000_000);
  expect(await refusals(path)).toEqual(["header: TRUNCATED"]);
});

testNeeding(
  ["program:qemu-img"],
  "an empty disk has no root partition, and its finding says what to do",
  async () => {
    const { ok, findings } = await checkImage(await qcow2("empty.qcow2"));
    expect(ok).toBe(false);
    expect(findings).toContainEqual(
      expect.objectContaining({
        name: "root partition",
        code: "NO_ROOT_PARTITION",
        hint: expect.any(String),
      }),
    );
  },
);

test("a file that is not there is a fault of usage", async () => {
  await expect(checkImage(join(dir, "none.qcow2"))).rejects.toMatchObject({
    code: "IMAGE_UNREADABLE",
    exitCode: 2,
  });
  await expect(checkImage(dir)).rejects.toMatchObject({ code: "IMAGE_UNREADABLE", exitCode: 2 });
});
