import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import {
  parseRepositories,
  readAptOptions,
  readSourceLines,
  sourceLines,
} from "../../src/image/apt-sources.js";

const BOOKWORM = [
  { uri: "http://archive.example/debian/", suite: "bookworm", component: "main" },
  { uri: "http://archive.example/debian/", suite: "bookworm-updates", component: "main" },
  { uri: "http://archive.example/debian-security/", suite: "bookworm-security", component: "main" },
];

test("apt's lines are read once each, whatever else it prints", () => {
  const line = "http://archive.example/debian/|bookworm|main";
  expect(parseRepositories(`${line}\nW: a warning\n${line}\n`)).toEqual([BOOKWORM[0]]);
});

test("the suite comes with its updates and security, and nothing of other repositories", () => {
  const others = [
    { uri: "http://archive.example/debian/", suite: "bookworm", component: "contrib" },
    { uri: "http://elsewhere.test/node", suite: "nodistro", component: "main" },
  ];
  expect(sourceLines("bookworm", { repositories: [...others, ...BOOKWORM], keyring: "/k.gpg" })).toEqual([
    "deb [signed-by=/k.gpg] http://archive.example/debian/ bookworm main",
    "deb [signed-by=/k.gpg] http://archive.example/debian/ bookworm-updates main",
    "deb [signed-by=/k.gpg] http://archive.example/debian-security/ bookworm-security main",
  ]);
});

test("a machine of another release lends its mirror", () => {
  const trixie = [
    { uri: "http://archive.example/debian-security", suite: "trixie-security", component: "main" },
    { uri: "http://archive.example/debian", suite: "trixie", component: "main" },
  ];
  expect(sourceLines("bookworm", { repositories: trixie })).toEqual([
    "deb http://archive.example/debian bookworm main",
  ]);
});

test("a machine without any Debian archive is told which line it lacks", () => {
  expect(() => sourceLines("bookworm", { repositories: [] })).toThrow(
    expect.objectContaining({
      code: "NO_DEBIAN_MIRROR",
      exitCode: 3,
      hint: expect.stringContaining("sources.list"),
    }),
  );
});

testNeeding(
  ["program:apt-get"],
  "this machine's own configuration gives lines and options for apt",
  async () => {
    for (const line of await readSourceLines("bookworm"))
      expect(line).toMatch(/^deb (\[signed-by=\S+\] )?\S+ bookworm\S* main$/);
    expect(await readAptOptions()).toMatch(/^(Acquire::\S+ ".*";\n)*$/);
  },
);
