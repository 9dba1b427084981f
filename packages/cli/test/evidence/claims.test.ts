import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CLAIM_RULES } from "../../src/evidence/claims/index.js";
import type { Claim } from "../../src/evidence/records/claims.js";
import {
  desktopFrame,
  goodRun,
  type RunContent,
  type WriteOptions,
  writeRun,
} from "../support/run-fixture.js";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "drums-claims-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function claimsOf(content: RunContent, options?: WriteOptions): Promise<Map<string, Claim>> {
  const { outcome } = await writeRun(dir, content, options);
  return new Map(outcome.claims.map((claim) => [claim.id, claim]));
}

const notEstablished = (claims: Map<string, Claim>) =>
  [...claims.values()]
    .filter(({ status }) => status !== "established")
    .map(({ id, status }) => `${id}: ${status}`);

test("a run in which all went well establishes every claim, each with its reasons and records", async () => {
  const claims = await claimsOf(goodRun());
  expect(notEstablished(claims)).toEqual([]);
  const ofEveryRun = CLAIM_RULES.filter(({ applies }) => applies === undefined);
  expect([...claims.keys()]).toEqual(ofEveryRun.map(({ id }) => id));
  for (const { id, reasons, records } of claims.values()) {
    expect(reasons, id).not.toEqual([]);
    if (id !== "all-steps") expect(records, id).not.toEqual([]);
  }
  expect(claims.get("sibling-screen")?.records).toContain("siblings/3/screen.png");
});

/** Merges fields into a record of a run. */
function spoil(
  content: RunContent,
  name: string,
  change: (value: Record<string, unknown>) => object,
): RunContent {
  const value = content.get(name);
  if (value === undefined) throw new Error(`the run has no ${name}`);
  return new Map(content).set(name, { ...(value as object), ...change(value as Record<string, unknown>) });
}

type Change = Readonly<Record<string, unknown>> | ((value: Record<string, unknown>) => object);

interface Case {
  readonly record: string;
  readonly change: Change;
  readonly fails: readonly string[];
  readonly says: RegExp;
}

const other = "cd".repeat(32);
const file = (device: string, inode: string) => ({ device, inode });

describe("one contradiction fails the claim that it contradicts, and says so", () => {
  test.each<Case>([
    { record: "image.json", change: { sha256: other }, fails: ["image-verified"], says: /asked for ab/ },
    {
      record: "mount.json",
      change: ({ mountinfo }) => ({ mountinfo: String(mountinfo).replace("ro,relatime", "rw,relatime") }),
      fails: ["root-read-only"],
      says: /mounted rw/,
    },
    {
      record: "mount.json",
      change: { passedOver: [{ way: "nbd", reason: " " }] },
      fails: ["root-read-only"],
      says: /nbd was passed over without/,
    },
    {
      record: "mount.json",
      change: { mountPoint: "/elsewhere" },
      fails: ["root-read-only"],
      says: /no line/,
    },
    {
      record: "layers.json",
      change: { rootPrograms: [{ path: "/usr/bin/Xvfb", found: true }] },
      fails: ["x-server-layer"],
      says: /the root itself has/,
    },
    { record: "layers.json", change: { layers: [] }, fails: ["x-server-layer"], says: /no layer brings/ },
    {
      record: "session/handshake.json",
      change: { checks: [{ name: "limits", ok: false, detail: "not read back" }] },
      fails: ["handshake"],
      says: /limits: not read back/,
    },
    {
      record: "session/report.json",
      change: { cgroup: "0::/\n" },
      fails: ["handshake"],
      says: /does not say/,
    },
    {
      record: "session/report.json",
      change: { mountinfo: "x" },
      fails: ["handshake"],
      says: /different mount/,
    },
    { record: "session/handshake.json", change: { goMs: 1e15 }, fails: ["handshake"], says: /before go/ },
    {
      record: "host.json",
      change: ({ namespaces }) => ({ namespaces: { ...(namespaces as object), net: file("4", "204") } }),
      fails: ["handshake"],
      says: /net namespace is the host's/,
    },
    {
      record: "bus.json",
      change: { activatable: ["org.freedesktop.DBus", "org.freedesktop.login1"] },
      fails: ["private-bus"],
      says: /login1/,
    },
    {
      record: "bus.json",
      change: { hostSocket: { path: "/run/dbus/x", before: file("20", "30"), after: file("20", "31") } },
      fails: ["private-bus"],
      says: /of the host changed/,
    },
    {
      record: "readiness.json",
      change: { verdict: { name: "black", ready: false, reasons: [] } },
      fails: ["desktop-usable"],
      says: /recorded verdict is black/,
    },
    { record: "token.json", change: { exitCode: 1 }, fails: ["token"], says: /return code 1/ },
    {
      record: "token.json",
      change: { value: "0123" },
      fails: ["token", "sibling-token", "second-generation", "original-unharmed"],
      says: /not 16 hex/,
    },
    { record: "marker.json", change: { sha256: other }, fails: ["marker"], says: /recorded is cd/ },
    { record: "audit.json", change: { verdict: "refuse" }, fails: ["audit"], says: /no finding/ },
    {
      record: "dump.json",
      change: { original: { pid: 4000, startTime: "5000", seenStartTime: null } },
      fails: ["dumped"],
      says: /is gone/,
    },
    {
      record: "siblings/2/restore.json",
      change: { startedMs: 600, endedMs: 700 },
      fails: ["siblings-together"],
      says: /alone .*: sibling 2/,
    },
    {
      record: "together.json",
      change: { siblings: [] },
      fails: ["siblings-together"],
      says: /was not looked for/,
    },
    {
      record: "together.json",
      change: { observedMs: 350 },
      fails: ["siblings-together"],
      says: /before the last/,
    },
    {
      record: "siblings/2/token.json",
      change: { value: "fedcba9876543210" },
      fails: ["sibling-token"],
      says: /^sibling 2: the original's is/,
    },
    {
      record: "siblings/2/identity.json",
      change: { hostname: "drums" },
      fails: ["sibling-identity"],
      says: /^sibling 2: its host name "drums" is that of the original/,
    },
    {
      record: "siblings/2/identity.json",
      change: { generation: "0" },
      fails: ["sibling-identity"],
      says: /^sibling 2: generation 0, the original's is 0/,
    },
    {
      record: "siblings/3/identity.json",
      change: { token: "" },
      fails: ["sibling-identity"],
      says: /^sibling 3: its token "" is that of nobody/,
    },
    {
      record: "siblings/1/marker.json",
      change: { path: "/tmp/x" },
      fails: ["sibling-marker"],
      says: /another/,
    },
    {
      record: "siblings/3/processes.json",
      change: ({ processes }) => ({ processes: (processes as object[]).slice(1) }),
      fails: ["sibling-processes"],
      says: /sibling 3: lost: drums-init \(1\)/,
    },
    {
      record: "siblings/1/facts.json",
      change: ({ facts }) => ({ facts: { ...(facts as object), windows: [] } }),
      fails: ["sibling-windows", "sibling-application"],
      says: /sibling 1: no window of class XTerm/,
    },
    {
      record: "siblings/1/bus.json",
      change: { socket: file("302", "7") },
      fails: ["sibling-bus"],
      says: /shared with sibling 2/,
    },
    {
      record: "siblings/1/bus.json",
      change: { socket: file("300", "7") },
      fails: ["sibling-bus"],
      says: /shared with the original/,
    },
    {
      record: "siblings/1/namespaces.json",
      change: { namespaces: { mnt: file("4", "3000") } },
      fails: ["sibling-mount-namespace"],
      says: /shared with sibling 3/,
    },
    {
      record: "siblings/1/namespaces.json",
      change: { namespaces: {} },
      fails: ["sibling-mount-namespace"],
      says: /not recorded/,
    },
    {
      record: "siblings/1/typed.json",
      change: { content: "Sibling 1 was here\nSibling 2 was here\n" },
      fails: ["own-sentence"],
      says: /typed was/,
    },
    {
      record: "siblings/1/typed.json",
      change: { content: null },
      fails: ["own-sentence"],
      says: /holds null/,
    },
    {
      record: "original/after.json",
      change: { typedContent: "Sibling 1 was here\n" },
      fails: ["original-unharmed"],
      says: /typed\.txt holds/,
    },
    {
      record: "application.json",
      change: { process: "xclock" },
      fails: ["application", "sibling-application"],
      says: /owned by one of 0 living xclock/,
    },
    {
      record: "twin/bus.json",
      change: { socket: file("300", "7") },
      fails: ["two-sessions"],
      says: /shared with the original/,
    },
    {
      record: "twin/namespaces.json",
      change: { namespaces: { mnt: file("4", "200") } },
      fails: ["two-sessions"],
      says: /shared with the original/,
    },
    {
      record: "twin/together.json",
      change: { twin: { pid: 4100, startTime: "5100", seenStartTime: null } },
      fails: ["two-sessions"],
      says: /second session .* is gone/,
    },
    {
      record: "second/typed.json",
      change: { content: "Sibling 1 was here\n" },
      fails: ["second-generation"],
      says: /it holds "Sibling 1 was here\\n", typed was/,
    },
    {
      record: "second/audit.json",
      change: { verdict: "refuse" },
      fails: ["second-generation"],
      says: /its audit found/,
    },
    {
      record: "teardown.json",
      change: { loops: ["loop3"] },
      fails: ["nothing-left"],
      says: /loops left: loop3/,
    },
    {
      record: "teardown.json",
      change: { hostSocket: null },
      fails: ["nothing-left"],
      says: /bus socket changed/,
    },
  ])("$record: $says", async ({ record, change, fails, says }) => {
    const apply = typeof change === "function" ? change : () => change;
    const claims = await claimsOf(spoil(goodRun(), record, apply));
    const failed = [...claims.values()].filter(({ status }) => status === "failed");
    expect(failed.map(({ id }) => id)).toEqual(fails);
    expect(failed.flatMap(({ reasons }) => reasons)).toContainEqual(expect.stringMatching(says));
  });
});

test("a screen that differs too much, or is too plain, or did not change by typing fails by its pixels", async () => {
  const black = { ...desktopFrame(0), pixels: new Uint8Array(400 * 300 * 4) };
  const content = goodRun()
    .set("siblings/1/screen.png", black)
    .set("siblings/2/screen-typed.png", desktopFrame(5))
    .set("siblings/3/screen-typed.png", desktopFrame(6));
  const claims = await claimsOf(content);
  expect(claims.get("sibling-screen")?.reasons).toEqual([
    expect.stringMatching(/^sibling 1: .*% of the screen differ, allowed are 5/),
    "sibling 1: 1 colours, wanted are 50",
  ]);
  expect(claims.get("sibling-windows")?.reasons).toContainEqual(expect.stringMatching(/^sibling 1: black/));
  expect(claims.get("own-sentence")?.reasons).toEqual([
    "sibling 1: its screen after typing is the same as sibling 3's",
    "sibling 2: its screen after typing is the same as its own screen before",
    "sibling 3: its screen after typing is the same as sibling 1's",
  ]);
});

test("a black screen before the dump is not ready, whatever the record says", async () => {
  const black = { ...desktopFrame(0), pixels: new Uint8Array(400 * 300 * 4) };
  const content = goodRun().set("screens/before.png", black).set("screens/before-2.png", black);
  const claim = (await claimsOf(content)).get("desktop-usable");
  expect(claim?.status).toBe("failed");
  expect(claim?.reasons).toContainEqual("the recorded verdict is ready, its records give black");
});

test("what was never done is not reached, and what failed is failed with the step's error", async () => {
  const content = goodRun();
  for (const name of [...content.keys()])
    if (/^(siblings|second|original|dump|together|audit)/.test(name)) content.delete(name);
  const failing = { step: "dump", error: new Error("FS mnt ./sys/kernel/config unsupported") };
  const claims = await claimsOf(content, { failing, siblings: 1 });
  expect(claims.get("dumped")).toMatchObject({
    status: "failed",
    reasons: ["step dump failed: FS mnt ./sys/kernel/config unsupported"],
  });
  expect(claims.get("original-unharmed")?.status).toBe("not reached");
  expect(claims.get("own-sentence")).toMatchObject({
    status: "not reached",
    reasons: ["sibling 1: siblings/1/typed.json is missing"],
  });
  expect(claims.get("token")?.status).toBe("established");
  expect(claims.get("all-steps")?.status).toBe("failed");
});

test("a failed restore is one failure; what hangs on it was not reached", async () => {
  const content = goodRun();
  for (const name of [...content.keys()])
    if (/^(siblings|second|original|together)/.test(name)) content.delete(name);
  const failing = { step: "restore", error: new Error("no set 1 found") };
  const claims = [...(await claimsOf(content, { failing, siblings: 2 })).values()];
  const idsOf = (status: Claim["status"]) =>
    claims.filter((one) => one.status === status).map(({ id }) => id);
  expect(idsOf("failed")).toEqual(["siblings-together", "all-steps"]);
  expect(idsOf("not reached")).toEqual(expect.arrayContaining(["sibling-token", "own-sentence"]));
});

test("an interrupted step is no failure of its subject", async () => {
  const content = goodRun();
  content.delete("dump.json");
  const error = Object.assign(new Error("interrupted by SIGINT"), { code: "INTERRUPTED" });
  const claims = await claimsOf(content, { failing: { step: "dump", error } });
  expect(claims.get("dumped")).toMatchObject({ status: "not reached", reasons: ["dump.json is missing"] });
});

test("a record that cannot be read fails its claims and names the field", async () => {
  const claims = await claimsOf(spoil(goodRun(), "token.json", () => ({ exitCode: "zero" })));
  expect(claims.get("token")).toMatchObject({
    status: "failed",
    reasons: [expect.stringMatching(/^token\.json cannot be read: .*exitCode/)],
  });
});

test("without an expected sha256, and without siblings, the claims are unknown and not established", async () => {
  const content = goodRun(0);
  const claims = await claimsOf(content);
  expect(claims.get("sibling-screen")).toMatchObject({
    status: "unknown",
    reasons: ["no sibling was asked for"],
  });
});
