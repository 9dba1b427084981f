import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { expect, onTestFinished } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { freshUpper, mountOverlay } from "../../src/index.js";
import { temporaryFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

async function folders(...names: string[]): Promise<{ folder: string; paths: string[] }> {
  const folder = await temporaryFolder();
  const paths = names.map((name) => join(folder, name));
  for (const path of paths) {
    await mkdir(path);
    await writeFile(join(path, "from"), path);
  }
  onTestFinished(() => {
    for (const target of [join(folder, "target"), join(folder, "other")]) unmountAll(target);
  });
  await mkdir(join(folder, "target"));
  await mkdir(join(folder, "other"));
  return { folder, paths };
}

function unmountAll(target: string): void {
  try {
    for (;;) sys.umount2(target, sys.MNT.DETACH);
  } catch {
    // EINVAL: nothing is mounted there any more
  }
}

testNeeding(["root"], "an overlay is mounted with both options, read back", async () => {
  const { folder, paths } = await folders("top", "base");
  const target = join(folder, "target");
  const report = await mountOverlay({ lowers: paths, target, ...(await freshUpper(folder)) });
  expect(report).toMatchObject({ ok: true, index: true, nfsExport: true });
  expect(await readFile(join(target, "from"), "utf8")).toBe(paths[0]);
});

testNeeding(
  ["root"],
  "an upper that was used with other layers before is refused, and why is said",
  async () => {
    const { folder, paths } = await folders("one", "two");
    const [one = "", two = ""] = paths;
    const target = join(folder, "target");
    const { upper, work } = await freshUpper(folder);
    await mountOverlay({ lowers: [one], target, upper, work });
    sys.umount2(target, 0);
    const error = await failure(
      () => mountOverlay({ lowers: [two], target, upper, work }),
      "OVERLAY_UPPER_STALE",
    );
    expect(error.message).toContain(`${upper} was used with other layers before`);
    expect(error.hint).toContain("freshUpper");
    // With its own layers it still serves.
    expect(await mountOverlay({ lowers: [one], target, upper, work })).toMatchObject({ ok: true });
  },
);

testNeeding(
  ["root"],
  "an upper that is in use is refused, and a lower that is not there is told",
  async () => {
    const { folder, paths } = await folders("base");
    const target = join(folder, "target");
    const stack = await freshUpper(folder);
    await mountOverlay({ lowers: paths, target, ...stack });
    const again = () => mountOverlay({ lowers: paths, target: join(folder, "other"), ...stack });
    await failure(again, "OVERLAY_UPPER_BUSY");
    const fresh = await freshUpper(join(folder, "fresh"));
    const missing = () =>
      mountOverlay({ lowers: [join(folder, "none")], target: join(folder, "other"), ...fresh });
    const error = await failure(missing, "OVERLAY_FAILED");
    expect(error.facts.code).toBe("ENOENT");
  },
);
