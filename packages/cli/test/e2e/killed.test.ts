import { spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { collectGarbage } from "../../src/session/gc.js";
import { findResidue, isClean } from "../../src/session/residue.js";
import { DESKTOP_NEEDS, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const NEEDS: readonly Need[] = [...DESKTOP_NEEDS, `file:${MAIN}`];

/** Runs the compiled command and sends it a signal once a step's end was shown. Gives its status and what it said. */
async function signalled(argv: readonly string[], step: string, signal: NodeJS.Signals) {
  const child = spawn(process.execPath, [MAIN, ...argv], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  let sent = false;
  child.stderr.on("data", (data) => {
    said += data;
    if (!sent && said.includes(`${step} (`)) sent = child.kill(signal);
  });
  const status = await new Promise((resolve) => child.on("close", resolve));
  return { status, said, sent };
}

describe("the compiled command", () => {
  testNeeding(
    NEEDS,
    "ends with 130 after Ctrl-C, nothing left, the evidence of the attempt kept",
    async () => {
      const { path } = await testImage();
      await withTestHome(async (home) => {
        const argv = ["probe", "--image", path, "--home", home.path];
        const { status, said } = await signalled(argv, "boot", "SIGINT");
        expect(said).toContain("taking everything down");
        expect(status).toBe(130);
        expect(await readdir(home.sessions)).toEqual([]);
        const [run = ""] = await readdir(home.evidence);
        expect(await readdir(join(home.evidence, run, "attempts", "001"))).toContain("manifest.sha256");
      });
    },
  );

  for (const [step, ...options] of [
    ["mount"],
    ["layers"],
    ["boot"],
    ["boot", "--upper-size", "64m"],
    ["network", "--net", "nat"],
    ["bus"],
  ] as const)
    testNeeding(
      !options.some((option) => option === "nat")
        ? NEEDS
        : [...NEEDS, "program:slirp4netns", "file:/dev/net/tun"],
      `killed with SIGKILL after ${[step, ...options].join(" ")} leaves nothing that gc does not take down`,
      async () => {
        const { path } = await testImage();
        await withTestHome(async (home) => {
          const { sent } = await signalled(
            ["up", "--image", path, "--home", home.path, ...options],
            step,
            "SIGKILL",
          );
          expect(sent).toBe(true);
          const sessionIds = await readdir(home.sessions);
          expect(sessionIds).toHaveLength(1);
          expect(await collectGarbage(home)).toMatchObject({ sessions: sessionIds, failures: [] });
          const residue = await findResidue({ home, sessionIds });
          expect({ residue, clean: isClean(residue) }).toMatchObject({ clean: true });
        });
      },
    );
});
