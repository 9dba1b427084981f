import { readFile } from "node:fs/promises";
import { readStat } from "@drums/nsexec/proc";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import type { Home } from "../../src/home.js";
import { setPoolSize, warmSiblings } from "../../src/pool/index.js";
import { endProcess } from "../../src/session/end-process.js";
import { collectGarbage } from "../../src/session/gc.js";
import { identify } from "../../src/session/identity.js";
import { sessionFolder } from "../../src/session/store.js";
import { drums } from "../support/drums.js";
import { DESKTOP_NEEDS, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

/** A home with a checkpoint `c` whose session is gone. */
async function withCheckpoint(body: (home: Home) => Promise<void>, ...options: string[]): Promise<void> {
  const { path } = await testImage();
  await withTestHome(async (home) => {
    const { document } = await drums(home, "up", "--image", path, ...options);
    await drums(home, "checkpoint", document.id, "--name", "c");
    await drums(home, "rm", document.id);
    await body(home);
  });
}

async function statesOf(home: Home, id: string): Promise<string[]> {
  const { pool } = await sessionFolder(home, id).read();
  const stats = await Promise.all((pool?.stopped ?? []).map(({ pid }) => readStat(pid)));
  return stats.map(({ state }) => state);
}

describe.each(["hardened", "compat"])("a pool of %s siblings", (profile) => {
  testNeeding(
    DESKTOP_NEEDS,
    "keeps them stopped and in sight, a fork takes one that answers, and rm takes the rest",
    async () => {
      await withCheckpoint(
        async (home) => {
          const made = await drums(home, "pool", "c", "--size", "2");
          expect(made).toMatchObject({ status: 0, document: { checkpoint: "c", size: 2, removed: [] } });
          const [first = "", second = ""]: string[] = made.document.warm;
          expect(await statesOf(home, first)).toEqual(expect.arrayContaining(["T"]));
          expect(new Set(await statesOf(home, second))).toEqual(new Set(["T"]));
          const listed = await drums(home, "ps");
          expect(listed.document).toMatchObject({
            sessions: [{ standing: "pooled" }, { standing: "pooled" }],
            pools: [{ checkpoint: "c", size: 2, warm: 2 }],
          });
          for (const command of [
            ["exec", first, "--", "true"],
            ["checkpoint", first, "--name", "d"],
          ])
            expect(await drums(home, ...command)).toMatchObject({
              status: 2,
              document: { error: { code: "SESSION_POOLED" } },
            });

          const forked = await drums(home, "fork", "c", "--count", "3");
          expect(forked).toMatchObject({ status: 0, document: { failures: [] } });
          const siblings: { id: string; pooled: boolean }[] = forked.document.siblings;
          expect(siblings.map(({ pooled }) => pooled)).toEqual([true, true, false]);
          expect(siblings.slice(0, 2).map(({ id }) => id)).toEqual([first, second]);
          for (const { id } of siblings)
            expect((await drums(home, "exec", id, "--", "cat", "/etc/hostname")).document.stdout).toBe(
              `${id}\n`,
            );
          expect((await drums(home, "ps")).document.pools).toEqual([{ checkpoint: "c", size: 2, warm: 0 }]);

          const filled = await drums(home, "pool", "--fill");
          expect(filled.document.made).toHaveLength(2);
          const shrunk = await drums(home, "pool", "c", "--size", "1");
          expect(shrunk.document.removed).toHaveLength(1);
          await drums(home, "rm", ...siblings.map(({ id }) => id));
          expect(await drums(home, "rm", "c")).toMatchObject({ status: 0, document: { kept: [] } });
          expect((await drums(home, "ps")).document).toEqual({ sessions: [], checkpoints: [], pools: [] });
        },
        "--profile",
        profile,
      );
    },
  );
});

testNeeding(
  DESKTOP_NEEDS,
  "what a killed taker or a given-up pool left is taken down by gc, and the warm ones stay",
  async () => {
    await withCheckpoint(async (home) => {
      const [taken = "", warm = ""]: string[] = (await drums(home, "pool", "c", "--size", "2")).document.warm;
      const folder = sessionFolder(home, taken);
      const record = await folder.read();
      const dead = { ...(await identify(process.pid)), startTime: "1" };
      await folder.write({
        ...record,
        pool: { state: "taking", holder: dead, stopped: record.pool?.stopped ?? [] },
      });
      expect(await collectGarbage(home)).toMatchObject({ sessions: [taken], failures: [] });
      expect((await warmSiblings(home, "c")).map(({ record: { id } }) => id)).toEqual([warm]);
      await setPoolSize(home, "c", 0);
      expect(await collectGarbage(home)).toMatchObject({ sessions: [warm], failures: [] });
    });
  },
);

testNeeding(DESKTOP_NEEDS, "one whose init was killed in the pool is passed over by a fork", async () => {
  await withCheckpoint(async (home) => {
    const [killed = ""]: string[] = (await drums(home, "pool", "c", "--size", "1")).document.warm;
    const { init } = await sessionFolder(home, killed).read();
    if (init === undefined) throw new Error("it has no init");
    await endProcess(init);
    const forked = await drums(home, "fork", "c");
    expect(forked).toMatchObject({ status: 0, document: { failures: [], siblings: [{ pooled: false }] } });
    expect(await readFile(`${home.checkpoints}/c/pool.json`, "utf8")).toContain('"size": 1');
  });
});

testNeeding(["root"], "a pool needs a checkpoint that is there, and a size in bounds", async () => {
  await withTestHome(async (home) => {
    expect(await drums(home, "pool", "none")).toMatchObject({
      status: 2,
      document: { error: { code: "USAGE" } },
    });
    expect(await drums(home, "pool", "none", "--size", "2")).toMatchObject({ status: 2 });
    expect(await drums(home, "pool", "none", "--size", "9999")).toMatchObject({ status: 2 });
  });
});
