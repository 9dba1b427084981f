import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { ownNamespaces } from "../examples/own-namespaces.js";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

testNeeding(["root"], "the README's example sees what is inside, and only that", async () => {
  const seen = await ownNamespaces();
  expect(seen).toMatchObject({ note: "hello\n", mounts: ["/mnt"] });
  expect(seen.processes).toContain("1 sh");
  expect(seen.processes).toHaveLength(2);
});

test("the README shows the example as it is", () => {
  const example = read("examples/own-namespaces.ts").replace("../src/index.js", "@drums/nsexec");
  expect(read("README.md")).toContain(`\`\`\`ts\n${example}\`\`\``);
});

test("every reason that the source gives is in the README, and no other", () => {
  const sources = readdirSync(new URL("../src/explain/", import.meta.url)).map((file) =>
    read(`src/explain/${file}`),
  );
  const given = sources.flatMap((text) => [...text.matchAll(/reason: "(\w+)"/g)].map(([, reason]) => reason));
  const readme = read("README.md");
  const section = readme.slice(readme.indexOf("| what failed"), readme.indexOf("A failed system call is"));
  const told = [...section.matchAll(/`([A-Z]+_[A-Z_]+)`/g)].map(([, reason]) => reason);
  expect(told.sort()).toEqual([...new Set(given)].sort());
});
