import { readFileSync } from "node:fs";
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
