import { spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { DESKTOP_NEEDS, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

testNeeding(
  [...DESKTOP_NEEDS, `file:${MAIN}`],
  "Ctrl-C ends the compiled command with 130, nothing left, and the evidence of the attempt kept",
  async () => {
    const { path } = await testImage();
    await withTestHome(async (home) => {
      const child = spawn(process.execPath, [MAIN, "probe", "--image", path, "--home", home.path], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      let said = "";
      child.stderr.on("data", (data) => {
        const before = said;
        said += data;
        if (said.includes("boot (") && !before.includes("boot (")) child.kill("SIGINT");
      });
      const status = await new Promise((resolve) => child.on("close", resolve));
      expect(said).toContain("taking everything down");
      expect(status).toBe(130);
      expect(await readdir(home.sessions)).toEqual([]);
      const [run = ""] = await readdir(home.evidence);
      expect(await readdir(join(home.evidence, run, "attempts", "001"))).toContain("manifest.sha256");
    });
  },
);
