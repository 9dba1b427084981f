import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { sessionMemory } from "../../src/session/memory.js";
import { sessionFolder } from "../../src/session/store.js";
import { drums } from "../support/drums.js";
import { DESKTOP_NEEDS, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

const RUN = "/sys/kernel/mm/ksm/run";
const PAGES = "/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled";

testNeeding(
  [...DESKTOP_NEEDS, `file:${RUN}`],
  "siblings whose memory is merged take less of their own, and the machine is as it was",
  async () => {
    const { path } = await testImage();
    const knobs = () => Promise.all([RUN, PAGES].map((file) => readFile(file, "utf8").catch(() => "")));
    const before = await knobs();
    await withTestHome(async (home) => {
      const { document } = await drums(home, "up", "--image", path);
      await drums(home, "checkpoint", document.id, "--name", "c");
      if (before[0]?.trim() === "0")
        expect(await drums(home, "fork", "c", "--merge")).toMatchObject({
          status: 3,
          document: { error: { code: "MERGE_OFF" } },
        });
      const merged = await drums(home, "fork", "c", "--count", "4", "--merge", "--host-tuning");
      expect(merged).toMatchObject({ status: 0, document: { failures: [] } });
      const { settled, siblings } = merged.document;
      expect(settled.after).toHaveLength(4);
      const own = (all: { ownBytes: number }[]) => all.reduce((sum, { ownBytes }) => sum + ownBytes, 0);
      const plain = await drums(home, "fork", "c");
      const { init } = await sessionFolder(home, plain.document.siblings[0].id).read();
      if (init === undefined) throw new Error("the sibling has no init");
      const { ownBytes, mergedBytes } = await sessionMemory(init);
      expect(mergedBytes).toBe(0);
      expect(own(settled.after)).toBeLessThan(4 * ownBytes * 0.8);
      expect(await knobs()).toEqual(before);
      for (const { id } of [...siblings, ...plain.document.siblings])
        expect((await drums(home, "exec", id, "--", "true")).status).toBe(0);
      await drums(home, "rm", document.id, ...[...siblings, ...plain.document.siblings].map(({ id }) => id));
    });
  },
);
