import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { goodRun, type RunContent, writeRun } from "../support/run-fixture.js";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "drums-parity-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function parityOf(content: RunContent): Promise<Record<string, string>> {
  const { outcome } = await writeRun(dir, content);
  return Object.fromEntries(
    outcome.parity.map(({ topic, status, session }) => [topic, `${status}: ${session}`]),
  );
}

test("gaps come from recorded facts", async () => {
  expect(await parityOf(goodRun(0))).toEqual({
    "X server": "differs: Xvfb",
    "display manager": "same: none",
    kernel: "differs: 6.1.0-host, the host's",
    "system bus": "differs: private, activates nothing",
    clock: "same: 0.0 s off the host's 2026-01-01T00:00:00.000Z, zone UTC; the host's is UTC",
    "lock screen": "same: none",
    "first process": "differs: drums-init",
    "security modules": "differs: the host's: capability, landlock",
  });
});

test("other facts give other rows", async () => {
  const content = goodRun(0);
  const facts = content.get("parity.json") as object;
  content.set("parity.json", {
    ...facts,
    imageKernels: ["6.1.0-host"],
    imageDisplayManager: "/usr/sbin/gdm3",
    imageXServers: ["/usr/bin/Xorg", "/usr/bin/Xvfb"],
    imageBusServices: 0,
    imageLockers: ["gnome-shell"],
    sessionLockEnabled: false,
    imageInit: "drums-init",
    hostSecurityModules: ["apparmor"],
    clockOffsetSeconds: -86400,
  });
  expect(await parityOf(content)).toMatchObject({
    "X server": "same: Xvfb",
    "display manager": "differs: none",
    kernel: expect.stringMatching(/^same/),
    "system bus": expect.stringMatching(/^same/),
    clock: expect.stringMatching(/^differs: -86400.0 s/),
    "lock screen": "differs: never locks",
    "first process": "same: drums-init",
    "security modules": "same: the host's: apparmor",
  });
});

test("one zone by two names is no gap, another zone is one", async () => {
  const content = goodRun(0);
  const facts = content.get("parity.json") as object;
  content.set("parity.json", { ...facts, imageZone: "Etc/UTC" });
  expect((await parityOf(content)).clock).toMatch(/^same: .* zone Etc\/UTC; the host's is UTC$/);
  content.set("parity.json", { ...facts, imageZone: "Europe/Vienna" });
  expect((await parityOf(content)).clock).toMatch(/^differs/);
});

test("a topic without its facts is unknown and says which record is missing", async () => {
  const content = goodRun(0);
  content.delete("parity.json");
  expect(Object.values(await parityOf(content))).toEqual(Array(8).fill("unknown: parity.json is missing"));
});
