import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resolveInRoot } from "../src/index.js";
import { temporaryFolder } from "./helpers/temp.js";
import { failure } from "./helpers/throws.js";

async function hostileRoot(): Promise<{ root: string; outside: string }> {
  const folder = await temporaryFolder();
  const root = join(folder, "root");
  const outside = join(folder, "secret");
  await mkdir(join(root, "etc"), { recursive: true });
  await mkdir(join(root, "usr/lib"), { recursive: true });
  await writeFile(outside, "the host's");
  await writeFile(join(root, "secret"), "the root's");
  const links: Record<string, string> = {
    "etc/absolute": outside,
    "etc/up": "../../../../../../../../secret",
    "etc/self": "/proc/self/root/secret",
    "etc/turn": "turn",
    "etc/one": "two",
    "etc/two": "one",
    "etc/dir": "/etc/../../..",
    lib: "usr/lib",
    "usr/lib/chain": "/lib/../../etc/up",
  };
  for (const [name, target] of Object.entries(links)) await symlink(target, join(root, name));
  return { root, outside };
}

test("no link of a hostile root leads outside", async () => {
  const { root, outside } = await hostileRoot();
  expect(await resolveInRoot(root, "/etc/absolute")).toEqual({
    inside: outside,
    host: join(root, outside),
    exists: false,
  });
  expect(await resolveInRoot(root, "/etc/self")).toMatchObject({
    inside: "/proc/self/root/secret",
    exists: false,
  });
  for (const path of [
    "/etc/up",
    "../../secret",
    "/usr/lib/chain",
    "/lib/chain",
    "etc/dir/secret",
    "/etc/dir/etc/up",
  ]) {
    const found = await resolveInRoot(root, path);
    expect(found, path).toEqual({ inside: "/secret", host: join(root, "secret"), exists: true });
    expect(await readFile(found.host, "utf8")).toBe("the root's");
  }
});

test("links that turn back on themselves end in an error", async () => {
  const { root } = await hostileRoot();
  await failure(() => resolveInRoot(root, "/etc/turn"), "LINK_LOOP");
  await failure(() => resolveInRoot(root, "/etc/one/x"), "LINK_LOOP");
  await failure(() => resolveInRoot(root, "/etc/\0"), "BAD_PATH");
});

test("the last link can be left as it is, and what does not exist is taken as written", async () => {
  const { root } = await hostileRoot();
  expect((await resolveInRoot(root, "/lib", { followLast: false })).inside).toBe("/lib");
  expect((await resolveInRoot(root, "/lib/x", { followLast: false })).inside).toBe("/usr/lib/x");
  expect(await resolveInRoot(root, "/lib/new/file")).toMatchObject({
    inside: "/usr/lib/new/file",
    exists: false,
  });
  expect(await resolveInRoot(root, "/secret/below")).toMatchObject({
    inside: "/secret/below",
    exists: false,
  });
  expect(await resolveInRoot(root, "//./")).toEqual({ inside: "/", host: root, exists: true });
});
