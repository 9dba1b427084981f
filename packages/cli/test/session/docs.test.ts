import { readFile } from "node:fs/promises";
import { IDENTITY_FILES, NAT, PUBLISH_ADDRESS } from "@drums/nsexec";
import { expect, test } from "vitest";

const page = (name: string) => readFile(new URL(`../../../../docs/${name}.md`, import.meta.url), "utf8");

test("docs/clone-identity.md names every file and variable by which a program learns who it is", async () => {
  const text = await page("clone-identity");
  for (const path of Object.values(IDENTITY_FILES)) expect(text).toContain(path);
  for (const name of ["SESSION", "GENERATION", "CHECKPOINT", "PARENT"])
    expect(text).toContain(`DRUMS_${name}`);
});

test("docs/network.md names the addresses as they are", async () => {
  const text = await page("network");
  for (const value of [...Object.values(NAT), PUBLISH_ADDRESS]) expect(text).toContain(value);
});
