import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { createHome, DEFAULT_HOME, findHome, homeAt, readJsonFile, writeJsonFile } from "../src/home.js";

const schema = z.object({ version: z.literal(1), name: z.string() });

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "drums-home-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test("the option wins over DRUMS_HOME, and DRUMS_HOME over the default", () => {
  expect(findHome({ home: "/a", env: { DRUMS_HOME: "/b" } }).path).toBe("/a");
  expect(findHome({ env: { DRUMS_HOME: "/b" } }).sessions).toBe("/b/sessions");
  expect(findHome({ env: { DRUMS_HOME: "" } }).path).toBe(DEFAULT_HOME);
});

test("the rooms are made for their owner alone", async () => {
  const home = await createHome(homeAt(join(dir, "home")));
  expect((await readdir(home.path)).sort()).toEqual([
    "cache",
    "checkpoints",
    "criu",
    "evidence",
    "images",
    "layers",
    "roots",
    "sessions",
  ]);
  expect((await stat(home.sessions)).mode & 0o777).toBe(0o700);
});

test("a name cannot leave its room", () => {
  const home = homeAt(dir);
  expect(home.entry("sessions", "s-1.a")).toBe(join(dir, "sessions", "s-1.a"));
  for (const name of ["..", "../x", "a/b", "", ".x", "a\0b", "-x", "x".repeat(129)])
    expect(() => home.entry("sessions", name)).toThrow(
      expect.objectContaining({ code: "BAD_NAME", exitCode: 2 }),
    );
});

test("a home that cannot be made is a blocker with a remedy", async () => {
  await writeFile(join(dir, "file"), "");
  await expect(createHome(homeAt(join(dir, "file")))).rejects.toMatchObject({
    code: "HOME_UNUSABLE",
    exitCode: 3,
  });
});

test("a home below /run is refused: a restore hides it", async () => {
  await expect(createHome(homeAt("/run/drums-home"))).rejects.toMatchObject({
    code: "HOME_UNUSABLE",
    exitCode: 3,
    where: "/run/drums-home",
  });
});

test("a JSON file is replaced whole and leaves no temporary file", async () => {
  const path = join(dir, "session.json");
  await writeJsonFile(path, { version: 1, name: "a", big: 5n });
  await writeJsonFile(path, { version: 1, name: "b" });
  expect(await readJsonFile(path, schema)).toEqual({ version: 1, name: "b" });
  expect(await readdir(dir)).toEqual(["session.json"]);
});

test("a failed write leaves the old file and nothing else", async () => {
  const path = join(dir, "session.json");
  await writeJsonFile(path, { version: 1, name: "a" });
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  await expect(writeJsonFile(path, circular)).rejects.toMatchObject({ code: "RECORD_WRITE", where: path });
  expect(await readdir(dir)).toEqual(["session.json"]);
  expect(await readFile(path, "utf8")).toContain('"a"');
});

test("missing, cut short and ill-shaped records are told apart", async () => {
  const path = join(dir, "session.json");
  await expect(readJsonFile(path, schema)).rejects.toMatchObject({ code: "RECORD_MISSING", where: path });
  await writeFile(path, '{"version": 1, "na');
  await expect(readJsonFile(path, schema)).rejects.toMatchObject({ code: "RECORD_NOT_JSON" });
  await writeFile(path, '{"version": 2, "name": 7}');
  await expect(readJsonFile(path, schema)).rejects.toMatchObject({
    code: "RECORD_INVALID",
    why: expect.stringMatching(/version: .*; name: /),
  });
});
