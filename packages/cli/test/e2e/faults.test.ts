import { mkdir, readdir } from "node:fs/promises";
import { sys } from "@drums/nsexec";
import { checkRoot, type MountedRoot } from "@drums/rootfs";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { createCheckpoint } from "../../src/checkpoint/create.js";
import { loadCheckpoint } from "../../src/checkpoint/load.js";
import { restoreSibling } from "../../src/fork/sibling.js";
import type { Home } from "../../src/home.js";
import { removeSession } from "../../src/session/remove.js";
import { findResidue, isClean } from "../../src/session/residue.js";
import { type UpOptions, upSession } from "../../src/session/up.js";
import { DESKTOP_NEEDS, testCriu, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

async function up(home: Home, options: UpOptions = {}) {
  const { path, sha256 } = await testImage();
  return upSession(home, { image: path, expectedSha256: sha256, desktop: "openbox" }, options);
}

describe("faults around a session", () => {
  testNeeding(
    DESKTOP_NEEDS,
    "an init that dies during boot is a clear error and leaves nothing",
    async () => {
      await withTestHome(async (home) => {
        const ids: string[] = [];
        const dying = up(home, {
          observe: {
            created: async ({ id }) => {
              ids.push(id);
            },
            shook: async ({ initPid }) => {
              process.kill(initPid, "SIGKILL");
            },
          },
        });
        await expect(dying).rejects.toMatchObject({
          code: expect.stringMatching(/^(SESSION_DEAD|PROCESS_GONE)$/),
        });
        expect(isClean(await findResidue({ home, sessionIds: ids }))).toBe(true);
      });
    },
  );

  testNeeding(
    DESKTOP_NEEDS,
    "a storage daemon that dies under a session is named, and all is taken down",
    async () => {
      await withTestHome(async (home) => {
        let root: MountedRoot | undefined;
        const { live, folder } = await up(home, {
          observe: {
            mounted: async (mounted) => {
              root = mounted;
            },
          },
        });
        const daemon = root?.daemonPid;
        if (root === undefined || daemon === undefined) throw new Error("the root has no daemon");
        const mounted = root;
        process.kill(daemon, "SIGKILL");
        const found = () =>
          checkRoot(mounted).then(
            () => "well",
            (error: { code?: string }) => error.code,
          );
        // A loaded machine takes a moment to end what was killed.
        await expect.poll(found, { timeout: 20_000 }).toBe("DAEMON_LOST");
        live.close();
        await removeSession(home, folder);
        expect(isClean(await findResidue({ home, sessionIds: [folder.id] }))).toBe(true);
      });
    },
  );

  testNeeding(
    DESKTOP_NEEDS,
    "a full disk during a dump leaves the session running and no checkpoint",
    async () => {
      await withTestHome(async (home) => {
        const { live, folder } = await up(home);
        sys.mount(home.checkpoints, { fsType: "tmpfs", source: "tmpfs", data: "size=2m" });
        try {
          const failing = createCheckpoint(home, live.record, { name: "full", criu: await testCriu() });
          await expect(failing).rejects.toMatchObject({ code: "DISK_FULL" });
          expect(await readdir(home.checkpoints)).toEqual([]);
          const answer = await live.withInit((init) =>
            init.run({ argv: ["/bin/echo", "alive"], env: {}, uid: 1000, gid: 1000 }),
          );
          expect(answer.stdout.toString()).toBe("alive\n");
        } finally {
          sys.umount2(home.checkpoints);
        }
        live.close();
        await removeSession(home, folder);
      });
    },
  );

  testNeeding(
    DESKTOP_NEEDS,
    "a second generation: a sibling is checkpointed and forked like its ancestor",
    async () => {
      await withTestHome(async (home) => {
        const criu = await testCriu();
        const original = await up(home);
        await createCheckpoint(home, original.live.record, { name: "first", criu });
        const child = await restoreSibling(home, await loadCheckpoint(home, "first", { criu }), { criu });
        await createCheckpoint(home, child.live.record, { name: "second", criu });
        const grandchild = await restoreSibling(home, await loadCheckpoint(home, "second", { criu }), {
          criu,
        });
        expect(grandchild.live.record.spec.layers.map(({ kind }) => kind)).toEqual([
          "upper",
          "upper",
          "init",
          "deb",
        ]);
        expect((await grandchild.live.frame()).width).toBe(1280);
        for (const { live, folder } of [original, child, grandchild]) {
          live.close();
          await removeSession(home, folder);
        }
      });
    },
  );

  testNeeding(
    DESKTOP_NEEDS,
    "a layer that changed since the dump is refused before CRIU is called",
    async () => {
      await withTestHome(async (home) => {
        const criu = await testCriu();
        const { live, folder } = await up(home);
        await createCheckpoint(home, live.record, { name: "changed", criu });
        await mkdir(`${home.entry("checkpoints", "changed")}/upper/intruder`);
        await expect(loadCheckpoint(home, "changed", { criu })).rejects.toMatchObject({
          code: "LAYER_CHANGED",
        });
        live.close();
        await removeSession(home, folder);
      });
    },
  );
});
