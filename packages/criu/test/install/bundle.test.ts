import { appendFile, cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterEach, beforeEach, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { DEFAULT_VERSION, findCriu, installCriu, PINNED_VERSIONS } from "../../src/index.js";
import { pinsFor } from "../../src/install/pins.js";
import { CRIU_NEEDS, TEST_HOME, testCriu } from "../helpers/criu.js";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "drums-bundle-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function copyOfBundle(): Promise<string> {
  await testCriu();
  await cp(join(TEST_HOME, "criu", "4.2.1"), join(home, "criu", "4.2.1"), {
    recursive: true,
    preserveTimestamps: true,
  });
  return join(home, "criu", "4.2.1");
}

testNeeding(
  CRIU_NEEDS,
  "the bundle runs with its own loader and libraries and says its version",
  async () => {
    const criu = await testCriu();
    const { stdout } = await execa(criu.file, [...criu.argv, "--version"]);
    expect(stdout).toContain("Version: 4.2.1");
    expect(criu).toMatchObject({
      version: "4.2.1",
      source: "bundle",
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  },
);

testNeeding(CRIU_NEEDS, "every library comes from the bundle, none from the machine", async () => {
  const criu = await testCriu();
  const [, library = "", ...rest] = criu.argv;
  const { stdout } = await execa(criu.file, ["--library-path", library, "--list", rest.at(-1) ?? ""]);
  const paths = [...stdout.matchAll(/=> (\S+)/g)].map(([, path]) => path);
  expect(paths.length).toBeGreaterThan(5);
  for (const path of paths) expect(path).toMatch(/\/criu\/4\.2\.1\//);
});

testNeeding(CRIU_NEEDS, "installing again changes nothing and fetches nothing", async () => {
  const folder = await copyOfBundle();
  const before = await readFile(join(folder, "bundle.json"), "utf8");
  const steps: string[] = [];
  await installCriu({ home, onProgress: ({ step }) => steps.push(step) });
  expect(steps).toEqual([]);
  expect(await readFile(join(folder, "bundle.json"), "utf8")).toBe(before);
});

testNeeding(CRIU_NEEDS, "a damaged bundle is refused by name, and made anew by another install", async () => {
  const folder = await copyOfBundle();
  await appendFile(join(folder, "criu.bin"), "x");
  await expect(findCriu({ home })).rejects.toMatchObject({
    code: "BUNDLE_DAMAGED",
    message: expect.stringContaining("criu.bin"),
  });
  await expect(installCriu({ home, debsFolder: home })).rejects.toMatchObject({ code: "PIN_NOT_SERVED" });
  const criu = await installCriu({ home });
  expect((await findCriu({ home })).digest).toBe(criu.digest);
});

testNeeding(CRIU_NEEDS, "a failed install leaves nothing behind", async () => {
  await expect(installCriu({ home, debsFolder: home })).rejects.toMatchObject({ code: "PIN_NOT_SERVED" });
  expect(await readdir(join(home, "criu"))).toEqual([]);
});

test("a version without pins is refused with those there are", async () => {
  await expect(installCriu({ home, version: "1.0" })).rejects.toMatchObject({
    code: "UNKNOWN_PINS",
    hint: expect.stringContaining("4.2.1"),
  });
});

test.each(PINNED_VERSIONS)("the pins of %s name every package once, with a version and a hash", (version) => {
  const { packages } = pinsFor(version);
  expect(packages.find(({ name }) => name === "criu")?.version).toContain(`${version}-`);
  expect(new Set(packages.map(({ name }) => name)).size).toBe(packages.length);
  expect(packages.map(({ name }) => name)).toContain("libc6");
});

testNeeding(CRIU_NEEDS, "two installs at the same time both end with the one intact bundle", async () => {
  await copyOfBundle();
  await rm(join(home, "criu", "4.2.1", "bundle.json"));
  const [first, second] = await Promise.all([installCriu({ home }), installCriu({ home })]);
  expect(first.file).toBe(second.file);
  expect((await findCriu({ home })).version).toBe("4.2.1");
  expect(await readdir(join(home, "criu"))).toEqual(["4.2.1"]);
});

testNeeding(
  CRIU_NEEDS,
  "every pinned version stands beside the others, runs, and the default is taken where none is named",
  async () => {
    for (const version of PINNED_VERSIONS) {
      const criu = await testCriu(version);
      const { stdout } = await execa(criu.file, [...criu.argv, "--version"]);
      expect(stdout).toContain(`Version: ${version}`);
      expect(await findCriu({ home: TEST_HOME, version })).toMatchObject({ version, digest: criu.digest });
    }
    expect((await findCriu({ home: TEST_HOME })).version).toBe(DEFAULT_VERSION);
  },
  180_000,
);
