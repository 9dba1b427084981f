import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { parseShownPackages } from "../../src/install/apt-root.js";
import {
  copyDebs,
  debFileName,
  fetchDebs,
  type PinnedDeb,
  parseSha256Sums,
  resolvePins,
} from "../../src/install/debs.js";
import { sha256 } from "../../src/install/digest.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drums-debs-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const CONTENT = "stands for a package";
const PIN: PinnedDeb = {
  name: "thing",
  version: "2:1.0+dfsg-1",
  architecture: "amd64",
  sha256: sha256(CONTENT),
  suites: ["forky"],
};

test("a file is named as apt names it, with an epoch's colon escaped", () => {
  expect(debFileName(PIN)).toBe("thing_2%3a1.0+dfsg-1_amd64.deb");
});

test("hashes are read from sha256sum's own listing", () => {
  const hash = "a".repeat(64);
  expect(parseSha256Sums(`${hash}  ./a.deb\n${hash} *b.deb\nnonsense\n`)).toEqual(
    new Map([
      ["a.deb", hash],
      ["b.deb", hash],
    ]),
  );
});

test("hashes are read from the stanzas of apt-cache show", () => {
  const text = `Package: a\nVersion: 1\nSHA256: ${"1".repeat(64)}\nDescription: x\n more\n\nPackage: b\nVersion: 2:1\nSHA256: ${"2".repeat(64)}\n`;
  expect(parseShownPackages(text)).toEqual([
    { name: "a", version: "1", sha256: "1".repeat(64) },
    { name: "b", version: "2:1", sha256: "2".repeat(64) },
  ]);
});

test("a folder of packages with a SHA256SUMS file serves in place of the network", async () => {
  await writeFile(join(folder, debFileName(PIN)), CONTENT);
  await writeFile(join(folder, "SHA256SUMS"), `${PIN.sha256}  ${debFileName(PIN)}\n`);
  const [deb] = await copyDebs({ packages: [PIN], debsFolder: folder, target: join(folder, "out") });
  expect(await readFile(deb?.path ?? "", "utf8")).toBe(CONTENT);
});

test("a package in the folder with another content is refused", async () => {
  await writeFile(join(folder, debFileName(PIN)), "something else");
  await writeFile(join(folder, "SHA256SUMS"), `${PIN.sha256}  ${debFileName(PIN)}\n`);
  await expect(
    copyDebs({ packages: [PIN], debsFolder: folder, target: join(folder, "out") }),
  ).rejects.toMatchObject({
    code: "PIN_HASH_MISMATCH",
    facts: { expected: PIN.sha256, found: sha256("something else") },
  });
  expect(await readdir(join(folder, "out"))).toEqual([]);
});

test("a package that the folder does not list is named", async () => {
  await writeFile(join(folder, "SHA256SUMS"), "");
  await expect(copyDebs({ packages: [PIN], debsFolder: folder, target: folder })).rejects.toMatchObject({
    code: "PIN_NOT_SERVED",
    facts: { packages: "thing=2:1.0+dfsg-1" },
  });
});

test("what is there already is not fetched again", async () => {
  await writeFile(join(folder, debFileName(PIN)), CONTENT);
  const steps: string[] = [];
  const [deb] = await fetchDebs({
    packages: [PIN],
    target: folder,
    onProgress: ({ step }) => steps.push(step),
  });
  expect(deb?.path).toBe(join(folder, debFileName(PIN)));
  expect(steps).toEqual([]);
});

const APT = ["program:apt-get", "program:apt-cache"] as const;

testNeeding(
  APT,
  "a version that no suite serves any more gives an error that names it and the way out",
  async () => {
    const gone: PinnedDeb = { ...PIN, name: "libuuid1", version: "0.0-1", suites: ["bookworm"] };
    await expect(fetchDebs({ packages: [gone], target: folder })).rejects.toMatchObject({
      code: "PIN_NOT_SERVED",
      message: expect.stringContaining("libuuid1=0.0-1"),
      hint: expect.stringContaining("debsFolder"),
    });
    expect(await readdir(folder)).toEqual([]);
  },
);

testNeeding(APT, "a suite that the archive does not have gives apt's own words", async () => {
  const odd: PinnedDeb = { ...PIN, suites: ["no-such-suite"] };
  await expect(fetchDebs({ packages: [odd], target: folder })).rejects.toMatchObject({
    code: "APT_FAILED",
    message: expect.stringContaining("no-such-suite"),
  });
});

testNeeding(APT, "what a suite serves today can be pinned", async () => {
  const [served] = await resolvePins({ names: ["libuuid1"], suite: "bookworm", architecture: "amd64" });
  expect(served).toEqual({
    name: "libuuid1",
    version: expect.stringMatching(/^2\.38/),
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});
