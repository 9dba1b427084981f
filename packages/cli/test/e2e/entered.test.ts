import { buildConfinement, enterSession, listPidNamespace } from "@drums/nsexec";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { createCheckpoint } from "../../src/checkpoint/create.js";
import { upSession } from "../../src/session/up.js";
import { waitFor } from "../../src/session/wait-for.js";
import { DESKTOP_NEEDS, testCriu, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

testNeeding(
  DESKTOP_NEEDS,
  "a checkpoint is refused by the name of what was entered while it lives, and taken once it has ended",
  async () => {
    const { path, sha256 } = await testImage();
    await withTestHome(async (home) => {
      const { live } = await upSession(home, { image: path, expectedSha256: sha256, desktop: "openbox" });
      const { record } = live;
      live.close();
      if (record.init === undefined) throw new Error("the session has no init");
      const { pid, startTime } = record.init;
      const criu = await testCriu();
      const guest = enterSession({
        pid,
        startTime: BigInt(startTime),
        confinement: buildConfinement({}),
        file: "/usr/bin/sleep",
        argv: ["sleep", "8"],
      });
      await waitFor(async () => (await listPidNamespace(pid)).some(({ name }) => name === "sleep"), {
        what: "the entered program",
      });
      await expect(createCheckpoint(home, record, { name: "early", criu })).rejects.toMatchObject({
        code: "ENTERED",
        why: expect.stringMatching(/sleep/),
      });
      expect(await guest).toMatchObject({ code: 0 });
      await createCheckpoint(home, record, { name: "later", criu });
    });
  },
);
