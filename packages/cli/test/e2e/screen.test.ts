import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { decodePng } from "@drums/readiness";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import type { Home } from "../../src/home.js";
import { drums } from "../support/drums.js";
import { DESKTOP_NEEDS, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

const SCREENS = [
  { xServer: "xvfb", size: { width: 1280, height: 720 } },
  { xServer: "xorg-dummy", size: { width: 1920, height: 1080 } },
] as const;

/** The size of a session's picture, and whether the picture alone passes for a desktop. */
async function shot(home: Home, id: string): Promise<{ size: object; judged: string }> {
  const file = join(home.path, `${id}.png`);
  expect(await drums(home, "shot", id, "--out", file)).toMatchObject({ status: 0 });
  const { width, height } = await decodePng(await readFile(file));
  const { document } = await drums(home, "judge", file);
  await rm(file);
  return { size: { width, height }, judged: document.name };
}

describe("a screen as it is asked for", () => {
  for (const { xServer, size } of SCREENS)
    testNeeding(
      DESKTOP_NEEDS,
      `of ${size.width}×${size.height} is what a desktop on ${xServer} and its siblings have`,
      async () => {
        const { path } = await testImage();
        await withTestHome(async (home) => {
          const geometry = `${size.width}x${size.height}`;
          const up = await drums(home, "up", "--image", path, "--geometry", geometry, "--x-server", xServer);
          expect(up).toMatchObject({ status: 0, document: { spec: { screen: size, xServer } } });
          const id: string = up.document.id;
          expect(await shot(home, id)).toEqual({ size, judged: "ready" });
          expect(await drums(home, "checkpoint", id, "--name", "c1")).toMatchObject({ status: 0 });
          expect(await drums(home, "rm", id)).toMatchObject({ status: 0 });
          const fork = await drums(home, "fork", "c1");
          expect(fork).toMatchObject({ status: 0, document: { failures: [] } });
          expect(await shot(home, fork.document.siblings[0].id)).toEqual({ size, judged: "ready" });
        });
      },
    );

  testNeeding(DESKTOP_NEEDS, "is refused where no desktop fits on it, or no frame holds it", () =>
    withTestHome(async (home) => {
      for (const geometry of ["1280", "640x480", "1280x", "8000x4320", "0x0", "1280x720x24"])
        expect(await drums(home, "up", "--image", "none.qcow2", "--geometry", geometry)).toMatchObject({
          status: 2,
        });
    }),
  );
});
