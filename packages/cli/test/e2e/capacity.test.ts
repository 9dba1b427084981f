import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { siblingNeeds } from "../../src/capacity/index.js";
import { loadCheckpoint } from "../../src/checkpoint/load.js";
import { forkCheckpoint } from "../../src/fork/fork.js";
import { thisMachine } from "../../src/preflight/index.js";
import { listSessionIds } from "../../src/session/store.js";
import { drums } from "../support/drums.js";
import { DESKTOP_NEEDS, testCriu, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

testNeeding(
  DESKTOP_NEEDS,
  "preflight says how many siblings fit, and a fork of more is refused before anything is done, or waits",
  async () => {
    const { path } = await testImage();
    await withTestHome(async (home) => {
      const { document } = await drums(home, "up", "--image", path);
      await drums(home, "checkpoint", document.id, "--name", "c");
      const told = await drums(home, "preflight", "--checkpoint", "c", "--siblings", "1");
      const { fits } = told.document;
      expect(fits).toBeGreaterThan(1);
      const more = String(fits * 1000);
      const refused = await drums(home, "preflight", "--checkpoint", "c", "--siblings", more);
      expect(refused).toMatchObject({ status: 3, document: { ok: false } });
      expect(await drums(home, "fork", "c", "--count", more)).toMatchObject({
        status: 3,
        document: { error: { code: "NO_ROOM", hint: expect.stringMatching(/\d/) } },
      });
      expect(await listSessionIds(home)).toEqual([document.id]);

      const criu = await testCriu();
      const { memoryBytes } = await siblingNeeds(await loadCheckpoint(home, "c", { criu }));
      // Memory for one beside the floor, until the first is usable.
      let isFull = true;
      const enough = `MemTotal: 1000000 kB\nMemAvailable: ${262_144 + Math.ceil(memoryBytes / 1024)} kB\n`;
      const machine = {
        ...thisMachine,
        read: (file: string) => (file === "/proc/meminfo" && isFull ? enough : thisMachine.read(file)),
      };
      await expect(
        forkCheckpoint(home, { checkpoint: "c", count: 2 }, { criu, machine }),
      ).rejects.toMatchObject({ code: "NO_ROOM" });
      const usable: boolean[] = [];
      const forked = await forkCheckpoint(
        home,
        { checkpoint: "c", count: 2 },
        {
          criu,
          machine,
          wait: true,
          onUsable: () => {
            usable.push(isFull);
            isFull = false;
          },
        },
      );
      expect(forked.failures).toEqual([]);
      expect(usable).toEqual([true, false]);
      await drums(home, "rm", document.id, ...forked.siblings.map(({ id }) => id));
    });
  },
);
