import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";
import { release } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findNat, natEndsByItself } from "@drums/nsexec";
import { expect } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { withOutside } from "../../../../tools/testing/outside.js";
import { createCheckpoint } from "../../src/checkpoint/create.js";
import type { Home } from "../../src/home.js";
import { endProcess } from "../../src/session/end-process.js";
import { collectGarbage } from "../../src/session/gc.js";
import { openSession } from "../../src/session/open.js";
import { processesOn } from "../../src/session/remove.js";
import { listSessionIds, sessionFolder } from "../../src/session/store.js";
import { upSession } from "../../src/session/up.js";
import { hear, portOf, sayOnce, startServer } from "../support/network.js";
import { DESKTOP_NEEDS, testCriu, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const NEEDS: readonly Need[] = [...DESKTOP_NEEDS, "program:slirp4netns", "file:/dev/net/tun", `file:${MAIN}`];
const run = promisify(execFile);

const natOf = (home: Home, id: string) => findNat(sessionFolder(home, id).path);

testNeeding(NEEDS, "a network outlives the command that made it, and is gone with its session", async () => {
  const { path } = await testImage();
  await withTestHome(async (home) => {
    const argv = ["up", "--json", "--home", home.path, "--image", path, "--net", "nat", "--publish", "8080"];
    const { stdout } = await run(process.execPath, [MAIN, ...argv]);
    const { id, init, network } = JSON.parse(stdout);
    expect(natOf(home, id)).toEqual([network.slirp.pid]);
    const live = await openSession(await sessionFolder(home, id).read());
    await startServer(live, 8080);
    expect(await sayOnce(portOf(live), "hello")).toBe("got hello\n");
    live.close();
    await endProcess(init);
    if (natEndsByItself(release())) while (natOf(home, id).length > 0) await sleep(20);
    expect(await collectGarbage(home)).toMatchObject({ sessions: [id], failures: [] });
    expect(natOf(home, id)).toEqual([]);
  });
});

testNeeding(
  [...NEEDS, "program:unshare", "program:nsenter"],
  "started in another net namespace, a session and its siblings leave by that one",
  async () => {
    const { path } = await testImage();
    await withOutside(async ({ address, command: [nsenter, ...there], greet }) => {
      const port = await greet(address, "from outside");
      await withTestHome(async (home) => {
        await testCriu();
        const drums = async (verb: string, ...argv: readonly string[]) => {
          const command = [...there, process.execPath, MAIN, verb, "--json", "--home", home.path, ...argv];
          return JSON.parse((await run(nsenter, command)).stdout);
        };
        const { id } = await drums("up", "--image", path, "--net", "nat");
        await drums("checkpoint", id, "--name", "net");
        const { siblings } = await drums("fork", "net");
        for (const one of [id, siblings[0].id]) {
          const live = await openSession(await sessionFolder(home, one).read());
          expect(await hear(live, address, port)).toBe("from outside");
          live.close();
        }
      });
    });
  },
);

testNeeding(
  NEEDS,
  "a fork killed with SIGKILL once a sibling has its network leaves nothing that gc does not take down",
  async () => {
    const { path } = await testImage();
    await withTestHome(async (home) => {
      const { live, folder } = await upSession(home, { image: path, desktop: "openbox", network: "nat" });
      await createCheckpoint(home, live.record, { name: "net", criu: await testCriu() });
      live.close();
      const siblings = async () => (await listSessionIds(home)).filter((id) => id !== folder.id);
      const argv = ["fork", "net", "--count", "2", "--home", home.path];
      const child = spawn(process.execPath, [MAIN, ...argv], { stdio: "ignore" });
      const ended = once(child, "close");
      while (!(await siblings()).some((id) => natOf(home, id).length > 0)) await sleep(1);
      child.kill("SIGKILL");
      expect(await ended).toEqual([null, "SIGKILL"]);

      const ids = await siblings();
      const { sessions, failures } = await collectGarbage(home);
      expect({ sessions, failures }).toEqual({ sessions: ids, failures: [] });
      for (const id of ids) {
        const { path: gone, upper } = sessionFolder(home, id);
        expect(natOf(home, id)).toEqual([]);
        expect(await processesOn(upper)).toEqual([]);
        await expect(access(gone)).rejects.toMatchObject({ code: "ENOENT" });
      }
      expect(natOf(home, folder.id)).toHaveLength(1);
    });
  },
);
