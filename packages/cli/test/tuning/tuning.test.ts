import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHome, type Home, homeAt } from "../../src/home.js";
import { identify } from "../../src/session/identity.js";
import { collectTuning, withHostTuning } from "../../src/tuning/index.js";

const PAGES = "mm/transparent_hugepage/hugepages-64kB/enabled";
const KNOBS = {
  [PAGES]: "always inherit [madvise] never\n",
  "mm/ksm/run": "0\n",
  "mm/ksm/sleep_millisecs": "20\n",
};

let folder: string;
let home: Home;
let sys: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drums-tuning-"));
  home = await createHome(homeAt(join(folder, "home")));
  sys = join(folder, "sys");
  for (const [file, text] of Object.entries(KNOBS)) {
    await mkdir(dirname(join(sys, file)), { recursive: true });
    await writeFile(join(sys, file), text);
  }
});
afterEach(() => rm(folder, { recursive: true }));

const at = async (file: string) => (await readFile(join(sys, file), "utf8")).trim();
const record = () => join(home.path, "host-tuning.json");

test("knobs are turned while something runs, and as they were afterwards, also after a failure", async () => {
  const seen = await withHostTuning(
    home,
    ["page-size", "ksm"],
    async () => [await at(PAGES), await at("mm/ksm/run")],
    {
      sys,
    },
  );
  expect(seen).toEqual(["always", "1"]);
  expect([await at(PAGES), await at("mm/ksm/run"), await at("mm/ksm/sleep_millisecs")]).toEqual([
    "madvise",
    "0",
    "20",
  ]);
  const failing = async () => {
    throw new Error("broken");
  };
  await expect(withHostTuning(home, ["page-size"], failing, { sys })).rejects.toThrow("broken");
  expect(await at(PAGES)).toBe("madvise");
  expect(existsSync(record())).toBe(false);
});

test("two that need the same keep it until the second has ended", async () => {
  const seen: string[] = [];
  await withHostTuning(
    home,
    ["ksm"],
    async () => {
      await withHostTuning(home, ["ksm", "page-size"], async () => {}, { sys });
      seen.push(await at("mm/ksm/run"), await at(PAGES));
    },
    { sys },
  );
  expect(seen).toEqual(["1", "madvise"]);
  expect(await at("mm/ksm/run")).toBe("0");
});

test("what somebody else turned meanwhile is left alone", async () => {
  await withHostTuning(home, ["ksm"], () => writeFile(join(sys, "mm/ksm/run"), "2"), { sys });
  expect([await at("mm/ksm/run"), await at("mm/ksm/sleep_millisecs")]).toEqual(["2", "20"]);
});

test("what a killed holder left is put back by a collection, and what a living one holds is not", async () => {
  const held = async () => {
    const kept = await readFile(record(), "utf8");
    expect(await collectTuning(home, { sys })).toEqual([]);
    return kept;
  };
  const kept = JSON.parse(await withHostTuning(home, ["page-size"], held, { sys }));
  await writeFile(join(sys, PAGES), "always");
  const dead = { ...(await identify(process.pid)), startTime: "1", kinds: ["page-size"] };
  await writeFile(record(), JSON.stringify({ ...kept, holders: [dead] }));
  expect(await collectTuning(home, { sys })).toEqual([PAGES]);
  expect(await at(PAGES)).toBe("madvise");
  expect(await collectTuning(home, { sys })).toEqual([]);
});

test("a knob that cannot be turned is a named error, and those before it are back", async () => {
  await rm(join(sys, "mm/ksm/run"));
  await mkdir(join(sys, "mm/ksm/run"));
  await expect(withHostTuning(home, ["ksm"], async () => {}, { sys })).rejects.toMatchObject({
    code: "TUNING_FAILED",
    exitCode: 3,
  });
  expect(await at("mm/ksm/sleep_millisecs")).toBe("20");
});
