import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readMountinfo } from "@drums/nsexec";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { createCheckpoint } from "../../src/checkpoint/create.js";
import { loadCheckpoint } from "../../src/checkpoint/load.js";
import { restoreSibling } from "../../src/fork/sibling.js";
import type { LiveSession } from "../../src/session/open.js";
import { removeSession } from "../../src/session/remove.js";
import { upSession } from "../../src/session/up.js";
import { DESKTOP_NEEDS, PROFILES, testCriu, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

/** What a fresh program of a session is held to, as it reads it itself, and the sizes of the session's tmpfs mounts. */
async function limitsOf(live: LiveSession) {
  const { init } = live.record;
  if (init === undefined) throw new Error("the session has no init");
  const read =
    "cd /proc/self; cat limits oom_score_adj ../sys/kernel/pid_max; grep -E '^(Cap|NoNew|Seccomp)' status";
  const { stdout } = await live.withInit((client) =>
    client.run({ argv: ["sh", "-c", read], env: { PATH: "/usr/bin:/bin" }, uid: 1000, gid: 1000 }),
  );
  const mounts = (await readMountinfo(init.pid)).filter(({ fsType }) => fsType === "tmpfs");
  const sizes = mounts.map(({ mountPoint, options, superOptions }) => ({
    mountPoint,
    options,
    superOptions,
  }));
  return { read: stdout.toString(), sizes: sizes.sort((a, b) => (a.mountPoint < b.mountPoint ? -1 : 1)) };
}

describe.each(PROFILES)("a sibling of a %s session", (profile) => {
  testNeeding(DESKTOP_NEEDS, "is held to all that its checkpoint's session is held to", async () => {
    const { path, sha256 } = await testImage();
    await withTestHome(async (home) => {
      const request = { image: path, expectedSha256: sha256, desktop: "openbox", profile };
      const { live } = await upSession(home, request);
      const held = await limitsOf(live);
      live.close();
      expect(held.read).toMatch(/^Max open files +1024 +16384 /m);
      expect(held.read).toMatch(/\n500\n4096\n/);
      const criu = await testCriu();
      await createCheckpoint(home, live.record, { name: "held", criu });
      const sibling = await restoreSibling(home, await loadCheckpoint(home, "held", { criu }), { criu });
      expect(await limitsOf(sibling.live)).toEqual(held);
      sibling.live.close();
    });
  });

  testNeeding(
    DESKTOP_NEEDS,
    "has an upper of its own of its checkpoint's size: full inside, and the host's disk is not",
    async () => {
      const { path, sha256 } = await testImage();
      await withTestHome(async (home) => {
        const request = {
          image: path,
          expectedSha256: sha256,
          desktop: "openbox",
          profile,
          upperBytes: 64 << 20,
        };
        const { live, folder } = await upSession(home, request);
        const criu = await testCriu();
        await createCheckpoint(home, live.record, { name: "sized", criu });
        const sibling = await restoreSibling(home, await loadCheckpoint(home, "sized", { criu }), { criu });
        for (const one of [live, sibling.live]) {
          const filled = await fill(one);
          expect(filled).toMatchObject({
            code: 1,
            stderr: expect.stringContaining("No space left on device"),
          });
          expect(filled.bytes).toBeGreaterThan(32 << 20);
          expect(filled.bytes).toBeLessThan(64 << 20);
          one.close();
        }
        await writeFile(join(home.path, "beside"), Buffer.alloc(80 << 20, 1));
        await removeSession(home, folder);
        await removeSession(home, sibling.folder);
        const mounts = (await readMountinfo("self")).map(({ mountPoint }) => mountPoint);
        expect(mounts.filter((point) => point.startsWith(home.path))).toEqual([]);
      });
    },
  );
});

/** Writes to the session's disk as its user until that is refused. */
async function fill(live: LiveSession) {
  const { code, stderr, stdout } = await live.withInit((client) =>
    client.run({
      argv: [
        "sh",
        "-c",
        "dd if=/dev/zero of=/home/user/fill bs=1M count=200; code=$?; stat -c %s /home/user/fill; exit $code",
      ],
      env: { PATH: "/usr/bin:/bin" },
      uid: 1000,
      gid: 1000,
    }),
  );
  return { code, stderr: stderr.toString(), bytes: Number(stdout.toString()) };
}
