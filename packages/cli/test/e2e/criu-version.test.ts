import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { drums } from "../support/drums.js";
import { DESKTOP_NEEDS, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

testNeeding(
  DESKTOP_NEEDS,
  "a checkpoint is read by the CRIU that wrote it, or by a newer one that is named, never by an older one",
  async () => {
    const { path } = await testImage();
    await withTestHome(async (home) => {
      const { document } = await drums(home, "up", "--image", path);
      const session: string = document.id;
      const made = await drums(home, "checkpoint", session, "--name", "usual");
      expect(made).toMatchObject({ status: 0, document: { criu: "4.2.1" } });
      const newer = await drums(home, "checkpoint", session, "--name", "newer", "--criu", "4.3");
      expect(newer).toMatchObject({ status: 0, document: { criu: "4.3" } });
      await drums(home, "rm", session);

      const forks = [["newer"], ["usual", "--criu", "4.3"]] as const;
      for (const fork of forks) {
        const { status, document: forked } = await drums(home, "fork", ...fork);
        expect({ fork, status, failures: forked.failures }).toEqual({ fork, status: 0, failures: [] });
        await drums(home, "rm", forked.siblings[0].id);
      }
      const pooled = await drums(home, "pool", "newer", "--size", "1");
      expect(pooled).toMatchObject({ status: 0, document: { warm: [expect.any(String)] } });

      expect(await drums(home, "fork", "newer", "--count", "2", "--criu", "4.2.1")).toMatchObject({
        document: { error: { code: "CRIU_VERSION_MISMATCH", hint: expect.stringContaining("--criu 4.3") } },
      });
    });
  },
);
