import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodePng } from "@drums/readiness";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHome, type Home, homeAt } from "../../src/home.js";
import { drums } from "../support/drums.js";

const SIZE = { width: 640, height: 480 };

/** What X and GNOME say while the Shell runs and draws to no monitor. */
const RECORDS = {
  "facts.json": {
    version: 1,
    facts: {
      source: "x11",
      screen: SIZE,
      windowManager: { name: "GNOME Shell", checkWindow: 7 },
      monitors: [],
      extensions: [],
      windows: [],
      windowsLeftOut: 0,
      clientList: [],
    },
  },
  "shell.json": { version: 1, bus: { connected: true, shellOwned: true, monitors: 0, mute: [] } },
};

let dir: string;
let home: Home;
let black: string;
const fileOf = (name: keyof typeof RECORDS) => join(dir, name);
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "drums-judge-"));
  home = await createHome(homeAt(dir));
  black = join(dir, "black.png");
  const pixels = new Uint8Array(SIZE.width * SIZE.height * 4);
  for (let alpha = 3; alpha < pixels.length; alpha += 4) pixels[alpha] = 255;
  await writeFile(black, await encodePng({ ...SIZE, pixels }));
  for (const [name, record] of Object.entries(RECORDS))
    await writeFile(join(dir, name), JSON.stringify(record));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test("a capture is judged by the rules that are named, with the facts that are given", async () => {
  const judged = async (...flags: string[]) => {
    const { status, document } = await drums(home, "judge", black, ...flags);
    return `${status}: ${document.name} by ${document.rules}`;
  };
  const facts = ["--facts", fileOf("facts.json")];
  expect(await judged()).toBe("1: black by default");
  expect(await judged("--rules", "field-record")).toBe("1: too-plain by field-record");
  expect(await judged("--rules", "gnome", ...facts)).toBe("1: black-no-monitor by gnome");
  expect(await judged("--rules", "gnome", ...facts, "--shell", fileOf("shell.json"))).toBe(
    "1: black-no-monitor by gnome",
  );
});

test("a record that is none is refused by its path", async () => {
  const judged = await drums(home, "judge", black, "--rules", "gnome", "--shell", fileOf("facts.json"));
  expect(judged).toMatchObject({ document: { error: { where: expect.stringContaining("facts.json") } } });
  expect(judged.status).not.toBe(0);
});
