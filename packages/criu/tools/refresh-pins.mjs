#!/usr/bin/env node
// Rewrites src/install/pins-<version>.json with what a Debian suite serves today.
// Usage: node tools/refresh-pins.mjs [SUITE]   (after a build; default: the first suite of the pins)
import { readFile, writeFile } from "node:fs/promises";
import { resolvePins } from "../dist/index.js";

const file = new URL("../src/install/pins-4.2.1.json", import.meta.url);
const pins = JSON.parse(await readFile(file, "utf8"));
const suite = process.argv[2] ?? pins.suites[0];
const packages = await resolvePins({
  names: pins.packages.map(({ name }) => name),
  suite,
  architecture: pins.architecture,
});
const criu = packages.find(({ name }) => name === "criu")?.version ?? "";
if (!criu.startsWith(`${pins.criu}-`)) {
  console.error(`${suite} serves criu ${criu}, not ${pins.criu}: a pins file of its own is needed`);
  process.exit(1);
}
await writeFile(file, `${JSON.stringify({ ...pins, packages }, null, 2)}\n`);
