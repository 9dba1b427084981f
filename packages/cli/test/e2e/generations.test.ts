import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { drums } from "../support/drums.js";
import { DESKTOP_NEEDS, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

for (const [profile, count] of [
  ["hardened", 8],
  ["compat", 3],
] as const)
  testNeeding(
    DESKTOP_NEEDS,
    `${count} generations of a ${profile} openbox desktop, each forked from the one before, stay usable and do not grow`,
    async () => {
      const { path } = await testImage();
      await withTestHome(async (home) => {
        const up = await drums(home, "up", "--image", path, "--profile", profile);
        let session: string = up.document.id;
        const sizes: { pages: number; upper: number }[] = [];
        for (let number = 1; number <= count; number++) {
          const name = `generation-${number}`;
          const line = `echo ${number} >> /home/user/generations`;
          expect((await drums(home, "exec", session, "--", "sh", "-c", line)).status).toBe(0);
          expect((await drums(home, "checkpoint", session, "--name", name)).document).toMatchObject({ name });
          const forked = await drums(home, "fork", name);
          expect(forked).toMatchObject({ status: 0, document: { failures: [] } });
          await drums(home, "rm", session);
          session = forked.document.siblings[0].id;
          sizes.push((await drums(home, "checkpoint", "inspect", name)).document.sizes);
        }
        const said = await drums(home, "exec", session, "--", "cat", "/home/user/generations");
        expect(said.document.stdout).toBe(
          Array.from({ length: count }, (_, index) => `${index + 1}\n`).join(""),
        );
        const [first] = sizes;
        for (const { pages, upper } of sizes) {
          expect(pages).toBeLessThan((first?.pages ?? 0) * 1.3);
          expect(upper).toBeLessThanOrEqual((first?.upper ?? 0) * 1.3);
        }
        expect(await drums(home, "rm", "generation-1")).toMatchObject({ status: 0 });
        expect((await drums(home, "fork", `generation-${count}`)).status).toBe(0);
      });
    },
    180_000,
  );
