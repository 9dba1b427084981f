import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { findNat } from "@drums/nsexec";
import { describe, expect } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { HOLDER } from "../../../../tools/testing/perl.js";
import { createCheckpoint } from "../../src/checkpoint/create.js";
import { loadCheckpoint } from "../../src/checkpoint/load.js";
import { restoreSibling } from "../../src/fork/sibling.js";
import type { Home } from "../../src/home.js";
import { endProcess } from "../../src/session/end-process.js";
import { listSessions } from "../../src/session/list.js";
import type { LiveSession } from "../../src/session/open.js";
import { removeSession } from "../../src/session/remove.js";
import { findResidue, isClean } from "../../src/session/residue.js";
import { sessionFolder } from "../../src/session/store.js";
import { type UpRequest, upSession } from "../../src/session/up.js";
import { AS_USER, hear, portOf, SERVER_LOG, say, sayOnce, startServer, textOf } from "../support/network.js";
import { runDrums } from "../support/run-drums.js";
import { DESKTOP_NEEDS, PROFILES, testCriu, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

const NEEDS: readonly Need[] = [...DESKTOP_NEEDS, "program:slirp4netns", "file:/dev/net/tun"];
async function up(home: Home, request: Partial<UpRequest>) {
  const { path, sha256 } = await testImage();
  return upSession(home, { image: path, expectedSha256: sha256, desktop: "openbox", ...request });
}

/** Gives the body a listener on the host's loopback, which no session may reach. */
async function withHostListener(body: (port: number) => Promise<void>): Promise<void> {
  const server = createServer((socket) => socket.end("the host\n")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  try {
    await body(typeof address === "object" && address !== null ? address.port : 0);
  } finally {
    server.close();
  }
}

async function expectHostClosed(live: LiveSession, port: number): Promise<void> {
  for (const address of ["10.0.2.2", "10.0.2.3", "127.0.0.1", "10.0.2.100"])
    expect(await hear(live, address, port), address).toMatch(
      /^(no answer|closed|Connection refused|Connection reset by peer|Network is unreachable)$/,
    );
}

describe.each(PROFILES)("a NAT of a %s session", (profile) => {
  testNeeding(
    NEEDS,
    "holds through checkpoint and fork: one inner address, ports of its own for each, the host closed",
    async () => {
      await withTestHome(async (home) => {
        const criu = await testCriu();
        const { live, folder } = await up(home, { profile, network: "nat", publish: [{ guestPort: 8080 }] });
        await startServer(live, 8080);
        const held = connect(portOf(live), "127.0.0.1");
        expect(await say(held, "before")).toBe("got before\n");

        const report = await createCheckpoint(home, live.record, { name: "net", criu });
        expect(report.closedConnections).toEqual([
          { ends: expect.stringMatching(/^10\.0\.2\.100:8080 to 10\.0\.2\.2:\d+$/), process: "perl" },
        ]);
        const manifest = await readFile(`${home.entry("checkpoints", "net")}/checkpoint.json`, "utf8");
        expect(JSON.parse(manifest).session.closedConnections).toEqual(report.closedConnections);
        expect(await say(held, "after")).toBe("got after\n");

        const checkpoint = await loadCheckpoint(home, "net", { criu });
        const siblings = await Promise.all([1, 2].map(() => restoreSibling(home, checkpoint, { criu })));
        const all = [live, ...siblings.map((sibling) => sibling.live)];
        expect(new Set(all.map(portOf)).size).toBe(3);
        await withHostListener(async (port) => {
          for (const one of all) {
            expect(await sayOnce(portOf(one), "hello")).toBe("got hello\n");
            expect(await textOf(one, "/etc/resolv.conf")).toBe("nameserver 10.0.2.3\n");
            const addresses = await one.withInit((init) =>
              init.run({ ...AS_USER, argv: ["cat", "/proc/net/fib_trie"] }),
            );
            expect(addresses.stdout.toString()).toContain("10.0.2.100");
            await expectHostClosed(one, port);
          }
        });
        for (const { live: sibling } of siblings)
          while (!(await textOf(sibling, SERVER_LOG))?.includes("ended")) await sleep(5);
        expect(await say(held, "still")).toBe("got still\n");
        held.destroy();

        expect(await listSessions(home)).toEqual(
          expect.arrayContaining(
            all.map(({ record: { id, network } }) =>
              expect.objectContaining({ id, network: "nat", ports: network?.ports }),
            ),
          ),
        );
        for (const one of all) one.close();
        const ids = [folder.id, ...siblings.map((sibling) => sibling.folder.id)];
        for (const id of ids) await removeSession(home, sessionFolder(home, id));
        for (const id of ids) expect(findNat(sessionFolder(home, id).path)).toEqual([]);
        const residue = await findResidue({ home, sessionIds: ids });
        expect({ residue, clean: isClean(residue) }).toMatchObject({ clean: true });
      });
    },
  );

  testNeeding(NEEDS, "without one there is lo alone, and connections inside go on in siblings", async () => {
    await withTestHome(async (home) => {
      const criu = await testCriu();
      const { live } = await up(home, { profile });
      await startServer(live, 9000);
      const argv = ["perl", "-e", HOLDER, "9000", "/tmp/ask", "/tmp/reply"];
      await live.withInit((init) => init.spawn({ ...AS_USER, argv }));
      while ((await textOf(live, "/tmp/reply.ready")) === undefined) await sleep(5);
      expect(await hear(live, "10.0.2.2", 80)).toBe("Network is unreachable");

      const { closedConnections } = await createCheckpoint(home, live.record, { name: "lo", criu });
      expect(closedConnections).toEqual([]);
      const sibling = await restoreSibling(home, await loadCheckpoint(home, "lo", { criu }), { criu });
      for (const one of [sibling.live, live]) {
        await one.withInit((init) => init.run({ ...AS_USER, argv: ["touch", "/tmp/ask"] }));
        while ((await textOf(one, "/tmp/reply")) === undefined) await sleep(5);
        expect(await textOf(one, "/tmp/reply")).toBe("got ping\n");
        one.close();
      }
    });
  });
});

testNeeding(
  NEEDS,
  "a network whose slirp4netns has ended is told as lost, and is taken down as any other",
  async () => {
    await withTestHome(async (home) => {
      const { live, folder } = await up(home, { network: "nat" });
      const { network } = live.record;
      if (network === undefined) throw new Error("no network is recorded");
      expect(network.confinement).toEqual(["sandbox", "seccomp"]);
      await endProcess(network.slirp);
      expect(await listSessions(home)).toMatchObject([{ id: folder.id, network: "lost" }]);
      live.close();
      await removeSession(home, folder);
      expect(isClean(await findResidue({ home, sessionIds: [folder.id] }))).toBe(true);
    });
  },
);

testNeeding(NEEDS, "ports that cannot be published are usage errors, and leave nothing", async () => {
  const { path } = await testImage();
  await withTestHome(async (home) => {
    const argv = ["up", "--json", "--home", home.path, "--image", path];
    const without = await runDrums(...argv, "--publish", "80");
    expect(without.status).toBe(2);
    expect(JSON.parse(without.stdout)).toMatchObject({ error: { code: "PUBLISH_WITHOUT_NET" } });
    expect((await runDrums(...argv, "--net", "nat", "--publish", "80:0")).status).toBe(2);
    await withHostListener(async (port) => {
      const taken = await runDrums(...argv, "--net", "nat", "--publish", `${port}:80`);
      expect(taken.status).toBe(2);
      expect(JSON.parse(taken.stdout)).toMatchObject({ error: { code: "PORT_TAKEN" } });
    });
    expect(await listSessions(home)).toEqual([]);
  });
});
