#!/usr/bin/env node
// Rewrites src/install/pins-<version>.json with what Debian's suites serve today: criu from the suite that has this
// version, each library from the first suite of the file that has it.
// Usage: node tools/refresh-pins.mjs [VERSION]   (after a build; default: every pins file)
import { readdir, readFile, writeFile } from "node:fs/promises";
import { resolvePins } from "../dist/index.js";

const folder = new URL("../src/install/", import.meta.url);
const files = (await readdir(folder)).filter((name) => /^pins-.*\.json$/.test(name));
const wanted = process.argv[2];
for (const name of files.filter((file) => wanted === undefined || file === `pins-${wanted}.json`))
  await refresh(new URL(name, folder));

async function refresh(file) {
  const pins = JSON.parse(await readFile(file, "utf8"));
  const packages = new Map();
  for (const suite of pins.suites) {
    const names = pins.packages.map(({ name }) => name).filter((name) => !packages.has(name));
    for (const served of await servedBy(suite, names, pins))
      if (served.name !== "criu" || served.version.startsWith(`${pins.criu}-`))
        packages.set(served.name, served);
  }
  const missing = pins.packages.filter(({ name }) => !packages.has(name)).map(({ name }) => name);
  if (missing.length > 0) {
    console.error(`${pins.suites.join(", ")} do not serve for CRIU ${pins.criu}: ${missing.join(" ")}`);
    process.exitCode = 1;
    return;
  }
  const sorted = pins.packages.map(({ name }) => packages.get(name));
  await writeFile(file, `${JSON.stringify({ ...pins, packages: sorted }, null, 2)}\n`);
}

/** A suite that lacks one of several packages refuses them all: then each is asked for alone. */
async function servedBy(suite, names, { architecture }) {
  if (names.length === 0) return [];
  try {
    return await resolvePins({ names, suite, architecture });
  } catch (error) {
    if (error.code !== "PIN_NOT_SERVED") throw error;
    if (names.length === 1) return [];
    const missing = new Set(
      String(error.facts.packages)
        .split(" ")
        .map((pin) => pin.split("=")[0]),
    );
    return servedBy(
      suite,
      names.filter((name) => !missing.has(name)),
      { architecture },
    );
  }
}
