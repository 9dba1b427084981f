import { join } from "node:path";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { verifyEvidence } from "../../src/evidence/verify.js";
import { type ProbeRequest, runProbe } from "../../src/probe/run.js";
import { DESKTOP_NEEDS, testCriu, withTestHome } from "../support/test-home.js";
import { testGnomeImage } from "../support/test-image.js";

/** The image's build is the first test's, on a busy machine. */
const TIMEOUT_MS = 900_000;

async function establishesAll(
  request: Pick<ProbeRequest, "application" | "siblings" | "profile" | "xServer">,
) {
  const { path, sha256 } = await testGnomeImage();
  await withTestHome(async (home) => {
    const out = join(home.evidence, "run");
    const asked = { image: path, expectedSha256: sha256, desktop: "gnome", ...request, out };
    const { claims, failures, evidence, parity } = await runProbe(home, asked, { criu: testCriu });
    expect(failures).toEqual([]);
    const open = claims.filter(({ status }) => status !== "established");
    expect(open.map(({ id, status, reasons }) => ({ id, status, reasons }))).toEqual([]);
    expect(claims.map(({ id }) => id)).toEqual(
      expect.arrayContaining(["two-sessions", "overview-left", "sibling-application", "second-generation"]),
    );
    expect(parity.find(({ topic }) => topic === "lock screen")).toMatchObject({ status: "differs" });
    expect(await verifyEvidence(evidence)).toMatchObject({ ok: true });
  });
}

describe("GNOME from an image, frozen and forked", () => {
  testNeeding(
    DESKTOP_NEEDS,
    "Writer's document is saved and judged in each of four siblings, and every claim is established",
    () => establishesAll({ application: "writer", siblings: 4, profile: "hardened" }),
    TIMEOUT_MS,
  );

  testNeeding(
    DESKTOP_NEEDS,
    "Chromium goes through the same cycle on Xorg, in the compat profile",
    () => establishesAll({ application: "chromium", siblings: 2, profile: "compat", xServer: "xorg-dummy" }),
    TIMEOUT_MS,
  );
});
