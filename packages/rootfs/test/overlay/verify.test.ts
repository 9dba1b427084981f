import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { parseMountinfo, readMountinfo } from "@drums/nsexec/proc";
import { execa } from "execa";
import { expect, onTestFinished, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import {
  describeLayers,
  freshUpper,
  overlayOptions,
  readOverlayDefaults,
  verifyOverlay,
} from "../../src/index.js";
import { realSystem } from "../../src/mount/system.js";
import { temporaryFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

const line = (options: string) =>
  parseMountinfo(
    `100 1 0:50 / /target rw,relatime - overlay overlay rw,lowerdir=/a,upperdir=/u,workdir=/w${options}\n`,
  );

test("both options on is ok; one missing is a fallback", () => {
  expect(verifyOverlay(line(",index=on,nfs_export=on"), "/target")).toMatchObject({
    ok: true,
    index: true,
    nfsExport: true,
    fellBack: [],
  });
  expect(verifyOverlay(line(",index=on"), "/target")).toMatchObject({
    ok: false,
    index: true,
    nfsExport: false,
  });
  expect(verifyOverlay(line(""), "/target")).toMatchObject({ ok: false, index: false, nfsExport: false });
});

test("where the module's default is on, the kernel shows only what is off", () => {
  const defaults = { index: true, nfsExport: true };
  expect(verifyOverlay(line(""), "/target", { defaults })).toMatchObject({ ok: true });
  expect(verifyOverlay(line(",nfs_export=off"), "/target", { defaults })).toMatchObject({
    ok: false,
    index: true,
  });
});

test("another upper than the expected one, and no overlay at all, are said", async () => {
  const found = verifyOverlay(line(",index=on,nfs_export=on"), "/target", { upper: "/other" });
  expect(found).toMatchObject({ ok: false, detail: expect.stringContaining("its upper is not /other") });
  await failure(() => verifyOverlay(line(""), "/elsewhere"), "OVERLAY_NOT_FOUND");
});

async function mounted(folder: string, name: string, uuid: string): Promise<string> {
  const file = join(folder, `${name}.ext4`);
  const target = join(folder, name);
  await execa("mke2fs", ["-q", "-F", "-t", "ext4", "-U", uuid, file, "8192k"]);
  await mkdir(target);
  const loop = await realSystem.attachLoop({ file, offset: 0, bytes: 8 << 20, readOnly: true });
  sys.mount(target, { source: loop.device, fsType: "ext4", flags: sys.MS.RDONLY, data: "noload" });
  loop.close();
  onTestFinished(() => sys.umount2(target, sys.MNT.DETACH));
  return target;
}

async function stack(folder: string, layers: Record<string, string>) {
  const { upper, work } = await freshUpper(folder);
  const target = join(folder, "target");
  await mkdir(target);
  const data = overlayOptions({ lowers: Object.values(layers), upper, work });
  sys.mount(target, { source: "overlay", fsType: "overlay", data });
  onTestFinished(() => sys.umount2(target, sys.MNT.DETACH));
  const described = await describeLayers(Object.entries(layers).map(([name, path]) => ({ name, path })));
  return verifyOverlay(await readMountinfo("self"), target, {
    layers: described,
    upper,
    defaults: await readOverlayDefaults(),
  });
}

const ONE = "11111111-1111-4111-8111-111111111111";
const TWO = "22222222-2222-4222-8222-222222222222";

testNeeding(
  ["root", "loop", "program:mke2fs"],
  "a real overlay on two file systems keeps both options",
  async () => {
    const folder = await temporaryFolder();
    const layers = { base: await mounted(folder, "base", ONE), extra: await mounted(folder, "extra", TWO) };
    expect(await stack(folder, layers)).toMatchObject({ ok: true, fellBack: [] });
  },
);

for (const [what, uuid, sign] of [
  ["the same UUID", ONE, "same UUID"],
  ["no UUID", "00000000-0000-0000-0000-000000000000", "no UUID"],
] as const)
  testNeeding(
    ["root", "loop", "program:mke2fs"],
    `the kernel's silent fallback for two layers with ${what} is reported by their names`,
    async () => {
      const folder = await temporaryFolder();
      const layers = {
        base: await mounted(folder, "base", uuid),
        extra: await mounted(folder, "extra", uuid),
      };
      const report = await stack(folder, layers);
      expect(report).toMatchObject({ ok: false, index: false, nfsExport: false });
      expect(report.fellBack).toHaveLength(2);
      expect(report.fellBack[0]).toContain("base:");
      expect(report.fellBack[0]).toContain(sign);
      expect(report.detail).toContain("fell back");
    },
  );
