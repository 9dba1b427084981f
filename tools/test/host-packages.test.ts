import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { testNeeding } from "../testing/needs.js";

const TOOLS = fileURLToPath(new URL("..", import.meta.url));
const text = await readFile(`${TOOLS}/host-packages.txt`, "utf8");
const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

test("every host package says what it is needed for, and is named once", () => {
  for (const line of lines) expect(line).toMatch(/^[a-z0-9][a-z0-9+.-]+ +# \S/);
  const names = lines.map((line) => line.split(" ")[0]);
  expect(new Set(names).size).toBe(names.length);
});

testNeeding(
  ["program:dpkg-query", "program:bash"],
  "the scripts see of that list what is not installed, and only names",
  async () => {
    const script = '. "$0"; dpkg-query() { return 1; }; missing_packages';
    const { stdout } = await promisify(execFile)("bash", ["-c", script, `${TOOLS}/lib.sh`]);
    expect(stdout.trim().split("\n")).toEqual(lines.map((line) => line.split(" ")[0]));
  },
);
