import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { createGroup, readHierarchy } from "@drums/cgroup2";
import { installCriu } from "@drums/criu";
import { describe, expect, test } from "vitest";
import { createCheckpoint } from "../../src/checkpoint/create.js";
import { loadCheckpoint } from "../../src/checkpoint/load.js";
import { restoreSibling } from "../../src/fork/sibling.js";
import { launchInit } from "../../src/session/boot/launch.js";
import type { LiveSession } from "../../src/session/open.js";
import { sessionUsage } from "../../src/session/usage.js";
import { withBareHome } from "../support/bare-session.js";

const MEMORY = 64 * 2 ** 20;
/** Doubles a string until nothing is left to take. */
const HOG = "a=0123456789abcdef; while :; do a=$a$a; done";
const FORK_BOMB = "bomb() { bomb & bomb; }; bomb";

const sh = (live: LiveSession, script: string) =>
  live.withInit((init) =>
    init.run({ argv: ["/bin/sh", "-c", script], env: { PATH: "/bin:/usr/bin" }, uid: 0, gid: 0 }),
  );
const start = (live: LiveSession, script: string) =>
  live.withInit((init) =>
    init.spawn({ argv: ["/bin/sh", "-c", script], env: { PATH: "/bin:/usr/bin" }, uid: 0, gid: 0 }),
  );

describe("a session with limits", () => {
  for (const profile of ["hardened", "compat"] as const)
    test(`${profile}: what takes more memory than it may is killed inside, the session counts it and lives on, another session does not notice`, async () => {
      await withBareHome(async ({ launch }) => {
        const limits = { memoryMaxBytes: MEMORY, pidsMax: 40, cpus: 1.5 };
        const [greedy, other] = [await launch({ profile, limits }), await launch({ profile, limits })];
        expect(await sh(greedy, HOG)).toMatchObject({ signal: "SIGKILL" });
        expect(await sh(greedy, "echo alive")).toMatchObject({ code: 0, stdout: Buffer.from("alive\n") });
        expect(await sessionUsage(greedy.record)).toMatchObject({ oomKills: 1 });
        expect(await sessionUsage(other.record)).toMatchObject({ oomKills: 0 });
        for (const live of [greedy, other]) live.close();
      });
    });

  test("a fork bomb is held by pids.max, while the host and another session answer", async () => {
    await withBareHome(async ({ launch }) => {
      const [bombed, other] = [await launch({ limits: { pidsMax: 40, cpus: 0.5 } }), await launch()];
      await start(bombed, FORK_BOMB);
      while (((await sessionUsage(bombed.record))?.pidsRefused ?? 0) === 0) await sleep(100);
      expect(await promisify(execFile)("/bin/echo", ["host"])).toMatchObject({ stdout: "host\n" });
      expect(await sh(other, "echo other")).toMatchObject({ code: 0, stdout: Buffer.from("other\n") });
      expect((await sessionUsage(bombed.record))?.pids).toBeLessThanOrEqual(40);
      for (const live of [bombed, other]) live.close();
    });
  });

  test("cpu.max holds within a tenth", async () => {
    await withBareHome(async ({ launch }) => {
      const live = await launch({ limits: { cpus: 0.4 } });
      for (let busy = 0; busy < 2; busy++) await start(live, "while :; do :; done");
      const used = async () => ({
        usec: (await sessionUsage(live.record))?.cpuUsec ?? 0,
        at: performance.now(),
      });
      const before = await used();
      await sleep(5000);
      const after = await used();
      const processors = (after.usec - before.usec) / 1000 / (after.at - before.at);
      expect(processors).toBeGreaterThan(0.36);
      expect(processors).toBeLessThan(0.44);
      live.close();
    });
  });

  test("is dumped, and each sibling has a group of its own with the same limits in force", async () => {
    await withBareHome(async ({ home, launch }) => {
      const limits = { memoryMaxBytes: MEMORY, pidsMax: 40, cpus: 1 };
      const live = await launch({ limits });
      await start(live, "while :; do sleep 1; done");
      live.close();
      const criu = await installCriu({ home: process.env.DRUMS_TEST_CRIU_HOME ?? "/tmp/drums-test-criu" });
      await createCheckpoint(home, live.record, { name: "limited", criu });
      const checkpoint = await loadCheckpoint(home, "limited", { criu });
      const siblings = [
        await restoreSibling(home, checkpoint, { criu }),
        await restoreSibling(home, checkpoint, { criu }),
      ];
      const groups = siblings.map(({ live: { record } }) => record.cgroup?.join("/"));
      expect(new Set([live.record.cgroup?.join("/"), ...groups]).size).toBe(3);
      const [first, second] = siblings.map((sibling) => sibling.live) as [LiveSession, LiveSession];
      expect(await sh(first, HOG)).toMatchObject({ signal: "SIGKILL" });
      expect(await sessionUsage(first.record)).toMatchObject({ oomKills: 1 });
      expect(await sessionUsage(second.record)).toMatchObject({ oomKills: 0 });
      for (const sibling of [first, second]) sibling.close();
    });
  });

  test("a limit that another took back is refused before go, and the session is gone", async () => {
    await withBareHome(async ({ prepare }) => {
      const { input } = await prepare({ limits: { pidsMax: 40 } });
      const { group } = input;
      if (group === undefined) throw new Error("the guest has no cgroup2");
      const tamper = async () => group.hierarchy.files.write(`${group.path}/pids.max`, "max");
      await expect(launchInit(input, { reported: tamper })).rejects.toMatchObject({
        code: "HANDSHAKE_REFUSED",
        why: expect.stringContaining('pids.max reads "max", asked for 40'),
      });
      await group.waitEmpty();
    });
  });

  test("an init that is moved to another group is refused before go", async () => {
    await withBareHome(async ({ prepare }) => {
      const { input } = await prepare({ limits: { pidsMax: 40 } });
      const elsewhere = await createGroup({ hierarchy: await readHierarchy(), path: ["drums", "elsewhere"] });
      const move = async () => {
        for (const pid of input.group?.procs() ?? []) elsewhere.add(pid);
      };
      await expect(launchInit(input, { reported: move })).rejects.toMatchObject({
        code: "HANDSHAKE_REFUSED",
        why: expect.stringContaining("cgroup.procs does not list"),
      });
      await elsewhere.waitEmpty();
      await elsewhere.remove();
    });
  });
});
