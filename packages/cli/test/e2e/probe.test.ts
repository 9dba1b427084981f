import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { verifyEvidence } from "../../src/evidence/verify.js";
import type { Home } from "../../src/home.js";
import { type ProbeOptions, type ProbeRequest, runProbe } from "../../src/probe/run.js";
import { listSessionIds } from "../../src/session/store.js";
import { DESKTOP_NEEDS, testCriu, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

async function probe(home: Home, request: Partial<ProbeRequest> = {}, options: Partial<ProbeOptions> = {}) {
  const { path, sha256 } = await testImage();
  const asked: ProbeRequest = {
    image: path,
    expectedSha256: sha256,
    desktop: "openbox",
    siblings: 3,
    profile: "hardened",
    out: join(home.evidence, "run"),
    ...request,
  };
  return runProbe(home, asked, { criu: testCriu, ...options });
}

describe("the main job", () => {
  for (const profile of ["hardened", "compat"] as const)
    testNeeding(DESKTOP_NEEDS, `establishes every claim in the ${profile} profile`, async () => {
      await withTestHome(async (home) => {
        const { claims, failures, evidence } = await probe(home, { profile });
        expect(failures).toEqual([]);
        const open = claims.filter(({ status }) => status !== "established");
        expect(open.map(({ id, status, reasons }) => ({ id, status, reasons }))).toEqual([]);
        expect(claims.length).toBeGreaterThan(20);
        expect(await listSessionIds(home)).toEqual([]);
        expect(await verifyEvidence(evidence)).toMatchObject({ ok: true });
      });
    });

  testNeeding(
    DESKTOP_NEEDS,
    "its evidence no longer verifies when one byte of a record changed",
    async () => {
      await withTestHome(async (home) => {
        const { evidence } = await probe(home, { siblings: 1 });
        await appendFile(join(evidence, "siblings/1/token.json"), " ");
        expect(await verifyEvidence(evidence)).toMatchObject({ ok: false });
      });
    },
  );

  testNeeding(
    DESKTOP_NEEDS,
    "a wrong sha256 ends it before anything is mounted, with the evidence kept",
    async () => {
      await withTestHome(async (home) => {
        const { failures, claims, evidence } = await probe(home, { expectedSha256: "0".repeat(64) });
        expect(failures).toMatchObject([{ code: "IMAGE_DIGEST_MISMATCH" }]);
        expect(claims.find(({ id }) => id === "root-read-only")).toMatchObject({ status: "not reached" });
        expect(await readFile(join(evidence, "events.jsonl"), "utf8")).toContain('"outcome":"failed"');
        expect(await verifyEvidence(evidence)).toMatchObject({ ok: false });
      });
    },
  );
});
