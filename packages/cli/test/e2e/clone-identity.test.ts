import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { IDENTITY_FILES, type ProfileName } from "@drums/nsexec";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { DICE, WATCHER } from "../../../../tools/testing/perl.js";
import { createCheckpoint } from "../../src/checkpoint/create.js";
import { loadCheckpoint } from "../../src/checkpoint/load.js";
import { restoreSibling } from "../../src/fork/sibling.js";
import type { Home } from "../../src/home.js";
import { inspectBus } from "../../src/session/bus.js";
import type { LiveSession } from "../../src/session/open.js";
import { upSession } from "../../src/session/up.js";
import { runDrums } from "../support/run-drums.js";
import { DESKTOP_NEEDS, PROFILES, testCriu, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

const ENV = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };

async function up(home: Home, profile: ProfileName = "hardened"): Promise<LiveSession> {
  const { path, sha256 } = await testImage();
  return (await upSession(home, { image: path, expectedSha256: sha256, desktop: "openbox", profile })).live;
}

async function shell(live: LiveSession, line: string, uid = 0): Promise<string> {
  const { code, stdout, stderr } = await live.withInit((init) =>
    init.run({ argv: ["/bin/sh", "-c", line], env: ENV, uid }),
  );
  if (code !== 0) throw new Error(`${line}: ${code}, ${stderr}`);
  return stdout.toString();
}

/** All that tells one session from another, as its own programs read it. */
async function whoIs(live: LiveSession) {
  const read = async (path: string) => (await shell(live, `cat ${path}`, 1000)).trim();
  return {
    kernelName: await read("/proc/sys/kernel/hostname"),
    fileName: await read("/etc/hostname"),
    hosts: await read("/etc/hosts"),
    token: await read(IDENTITY_FILES.token),
    generation: await read(IDENTITY_FILES.generation),
    identity: JSON.parse(await read(IDENTITY_FILES.identity)),
    machineId: await read("/etc/machine-id"),
    bootId: await read("/proc/sys/kernel/random/boot_id"),
    randomness: await shell(live, "head -c 16 /dev/urandom | od -An -tx1"),
    bus: (await inspectBus(live)).report.id,
  };
}

/** The next number of the program that runs since before the fork. */
async function roll(live: LiveSession): Promise<string> {
  await shell(live, "echo >/tmp/ask");
  const rolled = async () => live.root.readFile("/tmp/rolled").then(String, () => "");
  while (!(await rolled()).endsWith("\n")) await sleep(5);
  return rolled();
}

describe.each(PROFILES)("siblings of a %s session", (profile) => {
  testNeeding(
    DESKTOP_NEEDS,
    "have a name, a token and a generation of their own, and the rest in common",
    async () => {
      await withTestHome(async (home) => {
        const criu = await testCriu();
        const original = await up(home, profile);
        await shell(original, "mkfifo -m 666 /tmp/ask");
        await original.withInit((init) =>
          init.spawn({
            argv: ["perl", "-e", DICE, "/tmp/ask", "/tmp/rolled"],
            env: ENV,
            stderr: "/tmp/dice.log",
          }),
        );
        const watched = ["perl", "-e", WATCHER, IDENTITY_FILES.generation, "/tmp/generations"];
        await original.withInit((init) => init.spawn({ argv: watched, env: ENV, uid: 1000 }));
        const first = await whoIs(original);
        expect(first).toMatchObject({ kernelName: "drums", generation: "0" });
        await createCheckpoint(home, original.record, { name: "first", criu });
        const checkpoint = await loadCheckpoint(home, "first", { criu });
        const [one, two] = await Promise.all([1, 2].map(() => restoreSibling(home, checkpoint, { criu })));
        if (one === undefined || two === undefined) throw new Error("no siblings");
        const fresh = await restoreSibling(home, checkpoint, { criu, identity: "fresh" });
        const lives = [original, one.live, two.live, fresh.live];

        const [before, ...siblings] = await Promise.all(lives.map(whoIs));
        expect(before).toEqual({ ...first, randomness: before?.randomness });
        for (const [index, { folder }] of [one, two, fresh].entries()) {
          const who = siblings[index];
          expect(who).toMatchObject({ kernelName: folder.id, fileName: folder.id, generation: "1" });
          expect(who?.hosts).toContain(`127.0.1.1\t${folder.id}`);
          expect(who?.identity).toEqual({
            version: 1,
            session: folder.id,
            hostname: folder.id,
            generation: 1,
            token: who?.token,
            checkpoint: "first",
            parent: original.record.id,
          });
        }
        for (const [live, seen] of [
          [original, "0\n"],
          [one.live, "0\n1\n"],
        ] as const)
          while ((await live.root.readFile("/tmp/generations").then(String, () => "")) !== seen)
            await sleep(5);
        const all = [first, ...siblings];
        expect(new Set(all.map(({ token }) => token)).size).toBe(4);
        expect(new Set(all.map(({ randomness }) => randomness)).size).toBe(4);
        // What stays equal, as docs/clone-identity.md says.
        expect(new Set(all.map(({ bus }) => bus)).size).toBe(1);
        expect(new Set(all.map(({ bootId }) => bootId)).size).toBe(1);
        expect(new Set(all.slice(0, 3).map(({ machineId }) => machineId)).size).toBe(1);
        expect(siblings[2]?.machineId).toBe(fresh.fresh?.machineId);
        expect(siblings[2]?.machineId).not.toBe(first.machineId);
        const rolls = await Promise.all(lives.map(roll));
        expect(rolls[0]).toMatch(/^0\.\d{12}\n$/);
        expect(new Set(rolls).size).toBe(1);

        await createCheckpoint(home, one.live.record, { name: "second", criu });
        const second = await restoreSibling(home, await loadCheckpoint(home, "second", { criu }), { criu });
        expect((await whoIs(second.live)).identity).toMatchObject({
          generation: 2,
          parent: one.folder.id,
          checkpoint: "second",
        });
        for (const live of [...lives, second.live]) live.close();
      });
    },
  );
});

testNeeding(
  DESKTOP_NEEDS,
  "a program that siblings run on a fork knows who it is; one that fails ends its sibling",
  async () => {
    await withTestHome(async (home) => {
      const criu = await testCriu();
      const live = await up(home);
      const secret = randomBytes(8).toString("hex");
      const hook = `#!/bin/sh\\necho "$(id -u) $DRUMS_SESSION $DRUMS_GENERATION $HOME" >/tmp/forked\\n`;
      await shell(live, `printf '${hook}' >/usr/local/bin/on-fork; chmod 755 /usr/local/bin/on-fork`);
      await shell(
        live,
        `printf '#!/bin/sh\\necho ${secret} >&2; exit 3\\n' >/usr/local/bin/bad; chmod 755 /usr/local/bin/bad`,
      );
      await createCheckpoint(home, live.record, { name: "hooks", criu });
      const checkpoint = await loadCheckpoint(home, "hooks", { criu });
      const sibling = await restoreSibling(home, checkpoint, {
        criu,
        onFork: { path: "/usr/local/bin/on-fork", as: "user" },
      });
      expect(await shell(sibling.live, "cat /tmp/forked")).toBe(`1000 ${sibling.folder.id} 1 /home/user\n`);
      const before = await readdir(home.sessions);
      const failing = restoreSibling(home, checkpoint, { criu, onFork: { path: "/usr/local/bin/bad" } });
      await expect(failing).rejects.toMatchObject({
        code: "ON_FORK_FAILED",
        message: expect.stringMatching(new RegExp(`/usr/local/bin/bad .*status 3.*${secret}`)),
      });
      expect(await readdir(home.sessions)).toEqual(before);
      for (const one of [live, sibling.live]) one.close();

      const argv = ["fork", "--json", "--home", home.path, "hooks"];
      const forked = await runDrums(...argv, "--identity", "fresh", "--on-fork", "/bin/true");
      const [reported] = JSON.parse(forked.stdout).siblings;
      expect(reported).toMatchObject({
        hostname: reported.id,
        fresh: { machineId: expect.stringMatching(/^\w{32}$/) },
      });
      const refused = await runDrums(...argv, "--count", "2", "--on-fork", "/usr/local/bin/bad");
      expect(refused.status).toBe(1);
      const named = expect.stringContaining(
        `/usr/local/bin/bad failed in the session: it ended with status 3, and said: ${secret}`,
      );
      expect(JSON.parse(refused.stdout)).toMatchObject({ siblings: [], failures: [named, named] });
      expect((await runDrums(...argv, "--on-fork", "bin/true")).status).toBe(2);
    });
  },
);
