import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import fc from "fast-check";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { findMissingDependencies } from "../../src/index.js";
import { compareVersions } from "../../src/layers/debian-version.js";
import { makeDeb } from "../helpers/deb.js";
import { temporaryFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

const NEEDS = ["program:dpkg-deb"] as const;

async function rootWith(folder: string, packages: readonly string[]): Promise<string> {
  await mkdir(join(folder, "root/var/lib/dpkg"), { recursive: true });
  await writeFile(join(folder, "root/var/lib/dpkg/status"), `${packages.join("\n\n")}\n`);
  return join(folder, "root");
}

const installed = (name: string, version: string, more = "") =>
  `Package: ${name}\nStatus: install ok installed\nVersion: ${version}\n${more}`;

testNeeding(
  NEEDS,
  "what neither the root nor the layer holds is named, with the version that is there",
  async () => {
    const folder = await temporaryFolder();
    const root = await rootWith(folder, [
      installed("libc6", "2.36-9"),
      installed("mawk", "1", "Provides: awk, versioned (= 3)"),
      "Package: gone\nStatus: deinstall ok config-files\nVersion: 9",
    ]);
    const app = await makeDeb(
      folder,
      "app",
      [],
      "Pre-Depends: libc6 (>= 2.34)\nDepends: helper (= 1), awk, versioned (>= 2), none | mawk:any, none (>= 2) | other, gone, libc6 (>> 3), awk (>= 1)\n",
    );
    const helper = await makeDeb(folder, "helper", []);
    expect(await findMissingDependencies({ debs: [app.path, helper.path], root })).toEqual([
      { package: "app", dependency: "none (>= 2) | other" },
      { package: "app", dependency: "gone" },
      { package: "app", dependency: "libc6 (>> 3)", found: "libc6 2.36-9" },
      { package: "app", dependency: "awk (>= 1)" },
    ]);
    expect(await findMissingDependencies({ debs: [app.path], root })).toContainEqual({
      package: "app",
      dependency: "helper (= 1)",
    });
    await failure(
      () => findMissingDependencies({ debs: [join(folder, "none.deb")], root }),
      "DEB_UNREADABLE",
    );
  },
);

testNeeding(["program:dpkg"], "versions are ordered as dpkg orders them", async () => {
  const part = fc.stringMatching(/^[0-9][0-9a-z.+~]{0,6}$/);
  const version = fc.tuple(
    fc.constantFrom("", "1:"),
    part,
    fc.constantFrom("", "-1", "-1~bpo", "-0+deb12u1"),
  );
  const pairs = fc.sample(fc.tuple(version, version), 40).map((pair) => pair.map((parts) => parts.join("")));
  for (const [left = "", right = ""] of [
    ...pairs,
    ["1.0", "1.00"],
    ["1~rc1", "1"],
    ["2", "10"],
    ["1a", "1+"],
  ]) {
    const is = async (relation: string) =>
      (await execa("dpkg", ["--compare-versions", left, relation, right], { reject: false })).exitCode === 0;
    const order = (await is("lt")) ? -1 : (await is("eq")) ? 0 : 1;
    expect(Math.sign(compareVersions(left, right)), `${left} to ${right}`).toBe(order);
  }
});
