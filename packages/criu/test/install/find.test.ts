import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findCriu } from "../../src/index.js";

let folder: string;
const path = process.env.PATH;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drums-find-"));
  process.env.PATH = `${folder}:/usr/bin:/bin`;
});
afterEach(async () => {
  process.env.PATH = path;
  await rm(folder, { recursive: true, force: true });
});

async function systemCriu(version: string): Promise<void> {
  const file = join(folder, "criu");
  await writeFile(file, `#!/bin/sh\necho "Version: ${version}"\n`);
  await chmod(file, 0o755);
}

test("where there is no criu at all the error says how to get one", async () => {
  await expect(findCriu({ home: folder, system: false })).rejects.toMatchObject({
    code: "CRIU_MISSING",
    hint: expect.stringContaining("installCriu"),
  });
});

test("a system criu that is too old is refused with both versions", async () => {
  await systemCriu("3.17.1");
  await expect(findCriu({ home: folder, kernel: "6.1.0-40-amd64" })).rejects.toMatchObject({
    code: "CRIU_TOO_OLD",
    facts: { version: "3.17.1", needed: "4.1.1" },
  });
});

test("a version that is known not to work on this kernel is refused with the reason", async () => {
  await systemCriu("3.17.1");
  await expect(findCriu({ home: folder, kernel: "6.18.44-cloud" })).rejects.toMatchObject({
    code: "CRIU_UNUSABLE",
    message: expect.stringContaining("vDSO"),
    hint: expect.stringContaining("4.1.1"),
    facts: { version: "3.17.1", kernel: "6.18.44-cloud" },
  });
});

test("a bundle that is not there is asked for by its version", async () => {
  await expect(findCriu({ home: folder, version: "4.3" })).rejects.toMatchObject({
    code: "CRIU_MISSING",
    message: expect.stringContaining("No CRIU 4.3 under"),
  });
});

test("a system criu that is new enough is taken where there is no bundle", async () => {
  await systemCriu("4.3");
  expect(await findCriu({ home: folder })).toMatchObject({
    version: "4.3",
    source: "system",
    file: join(folder, "criu"),
    argv: [],
  });
});
