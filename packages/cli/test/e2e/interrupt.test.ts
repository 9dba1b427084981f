import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { verifyEvidence } from "../../src/evidence/verify.js";
import { runProbe } from "../../src/probe/run.js";
import { DESKTOP_NEEDS, testCriu, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

/** Every kind of step of a probe, in order; of steps for each sibling the first. */
const STEPS = [
  ...["host", "preflight", "image", "mount", "layers", "boot", "bus", "readiness"],
  ...[
    "twin",
    "application",
    "token",
    "marker",
    "processes",
    "reference",
    "audit",
    "dump",
    "restore",
    "restore/1",
  ],
  ...["sibling/1", "together", "typing/1", "second", "original", "parity"],
];

describe("an interrupted probe", () => {
  for (const step of STEPS)
    testNeeding(DESKTOP_NEEDS, `at ${step} takes everything down and keeps its evidence`, async () => {
      const { path, sha256 } = await testImage();
      await withTestHome(async (home) => {
        const controller = new AbortController();
        const started: string[] = [];
        const outcome = await runProbe(
          home,
          {
            image: path,
            expectedSha256: sha256,
            desktop: "openbox",
            siblings: 2,
            profile: "hardened",
            out: join(home.evidence, "run"),
          },
          {
            criu: testCriu,
            signal: controller.signal,
            onStep: (event) => {
              if (event.event === "start") started.push(event.step);
              if (event.event === "start" && event.step === step) controller.abort();
            },
          },
        );
        expect(started).toContain(step);
        expect(outcome.failures).not.toEqual([]);
        expect(outcome.claims.find(({ id }) => id === "all-steps")?.status).not.toBe("established");
        expect(await leftovers(outcome.evidence)).toEqual({});
        expect(await readdir(home.sessions)).toEqual([]);
        expect(await readdir(home.checkpoints)).toEqual([]);
        const { attempts } = await verifyEvidence(outcome.evidence);
        expect(attempts.map(({ intact }) => intact)).toEqual([true]);
      });
    });
});

/** The non-empty lists of teardown.json. */
async function leftovers(evidence: string): Promise<Record<string, unknown>> {
  const record: Record<string, unknown> = JSON.parse(await readFile(join(evidence, "teardown.json"), "utf8"));
  return Object.fromEntries(
    Object.entries(record).filter(([, list]) => Array.isArray(list) && list.length > 0),
  );
}
