import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { runDrums } from "../support/run-drums.js";
import { IMAGE_TIMEOUT_MS, sharedHome, testImage } from "../support/test-image.js";

const BUILD: readonly Need[] = ["root", "program:mmdebstrap", "program:qemu-img", "program:mke2fs"];

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "drums-image-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

testNeeding(
  BUILD,
  "image build says where the image is, and a second time that it was built before",
  async () => {
    const { path, sha256 } = await testImage();
    const home = (await sharedHome()).path;
    const asJson = await runDrums("image", "build", "openbox", "--home", home, "--json");
    expect(asJson.status).toBe(0);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ path, sha256, reused: true });
    const asText = await runDrums("image", "build", "openbox", "--home", home);
    expect(asText.stdout).toContain(`${path} (built before)\n  sha256    ${sha256}\n`);
  },
  IMAGE_TIMEOUT_MS,
);

testNeeding(
  BUILD,
  "image verify accepts the built image, and ends with 1 when it is not the pinned one",
  async () => {
    const { path, sha256 } = await testImage();
    const good = await runDrums("image", "verify", path, "--home", dir, "--sha256", sha256, "--json");
    expect([good.status, JSON.parse(good.stdout)]).toMatchObject([0, { ok: true, sha256 }]);
    const wrong = await runDrums("image", "verify", path, "--home", dir, "--sha256", "0".repeat(64));
    expect(wrong.status).toBe(1);
    expect(wrong.stdout).toMatch(/✗ sha256 .*was expected.*not usable\n$/s);
  },
  IMAGE_TIMEOUT_MS,
);

testNeeding(
  BUILD,
  "image inspect shows the partitions without reading the whole file",
  async () => {
    const { path } = await testImage();
    const { status, stdout } = await runDrums("image", "inspect", path, "--home", dir);
    expect(status).toBe(0);
    expect(stdout).toContain("partition 2  1024 MiB at 65 MiB  root  ext4");
    expect(stdout).not.toContain("sha256");
  },
  IMAGE_TIMEOUT_MS,
);

test("a file that is no qcow2 ends with 1 and its reason", async () => {
  const path = join(dir, "letter.qcow2");
  await writeFile(path, "dear reader".repeat(100));
  const { status, stdout } = await runDrums("image", "verify", path, "--home", dir, "--json");
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    findings: [{ name: "header", code: "NOT_QCOW2" }, {}],
  });
});

test("a missing file and an unknown recipe are faults of usage", async () => {
  const missing = await runDrums("image", "verify", join(dir, "none.qcow2"), "--home", dir, "--json");
  expect([missing.status, JSON.parse(missing.stdout)]).toMatchObject([
    2,
    { error: { code: "IMAGE_UNREADABLE" } },
  ]);
  const unknown = await runDrums("image", "build", "kde", "--home", dir);
  expect(unknown.status).toBe(2);
  expect(unknown.stderr).toContain("use one of: openbox");
});
