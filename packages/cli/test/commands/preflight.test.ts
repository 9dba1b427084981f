import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AreaItem } from "../../src/preflight/index.js";
import { collectPreflight } from "../../src/preflight/index.js";
import { runDrums } from "../support/run-drums.js";

// What the machine says is given; that the packages are really asked is tested in test/preflight.
vi.mock(import("../../src/preflight/collect.js"), () => ({ collectPreflight: vi.fn() }));

const OK: AreaItem = { area: "host", name: "root", status: "ok", detail: "runs as root" };
const GAP: AreaItem = { area: "cgroup2", name: "cpu", status: "gap", detail: "v1", remedy: "boot with v2" };
const BLOCKER: AreaItem = {
  area: "rootfs",
  name: "fuse",
  status: "blocker",
  detail: "none",
  remedy: "modprobe fuse",
};

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "drums-preflight-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

function machineSays(...items: AreaItem[]): void {
  vi.mocked(collectPreflight).mockResolvedValue(items);
}

test("gaps alone end with 0, and each is shown with its remedy", async () => {
  machineSays(OK, GAP);
  const { status, stdout } = await runDrums("preflight", "--home", dir);
  expect(status).toBe(0);
  expect(stdout).toContain("→ boot with v2");
  expect(stdout).toContain("1 ok, 1 gaps; nothing stands in the way");
});

test("a blocker ends with 3, in text and in JSON", async () => {
  machineSays(OK, GAP, BLOCKER);
  expect((await runDrums("preflight", "--home", dir)).status).toBe(3);
  const { status, stdout } = await runDrums("preflight", "--home", dir, "--json");
  expect(status).toBe(3);
  expect(JSON.parse(stdout)).toEqual({ ok: false, siblings: 3, items: [OK, GAP, BLOCKER] });
});

test("the number of siblings reaches those who are asked, and must be a number", async () => {
  machineSays(OK);
  await runDrums("preflight", "--home", dir, "--siblings", "12");
  expect(collectPreflight).toHaveBeenLastCalledWith(expect.objectContaining({ siblings: 12 }));
  const { status, stderr } = await runDrums("preflight", "--siblings", "many");
  expect(status).toBe(2);
  expect(stderr).toContain("whole number");
});

test("the CRIU that is meant reaches those who are asked, and must be one that is pinned", async () => {
  machineSays(OK);
  await runDrums("preflight", "--home", dir, "--criu", "4.1.1");
  expect(collectPreflight).toHaveBeenLastCalledWith(expect.objectContaining({ criu: "4.1.1" }));
  for (const command of [["preflight"], ["checkpoint", "s"], ["fork", "c"], ["probe", "--image", "i"]]) {
    const { status, stderr } = await runDrums(...command, "--criu", "4.0");
    expect(status).toBe(2);
    expect(stderr).toContain("Allowed choices are 4.1.1, 4.2.1, 4.3");
  }
});
