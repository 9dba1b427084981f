import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import {
  busIdentity,
  checkHostBus,
  flattenHostConfig,
  formatIdentity,
  readHostBus,
  sameBus,
  sharedBuses,
  unixAddress,
  verifyBus,
  waitForBus,
  writeConfig,
} from "../src/index.js";
import { connectPath, STOCK, startDaemon, withFolder } from "./support.js";

test("inode 7 on device 0:62 and inode 7 on device 0:74 are two buses", () => {
  const one = busIdentity({ device: 62, inode: 7 });
  const two = busIdentity({ device: 74n, inode: 7n });
  expect(sameBus(one, two)).toBe(false);
  expect(sameBus(one, busIdentity({ device: 62n, inode: 7 }))).toBe(true);
  expect([formatIdentity(one), formatIdentity(two)]).toEqual(["0:62/7", "0:74/7"]);
});

test("devices are written as the kernel numbers them", () => {
  expect(formatIdentity({ device: 0xfe01n, inode: 2n })).toBe("254:1/2");
  expect(formatIdentity({ device: 0x100000n, inode: 2n })).toBe("0:256/2");
});

test("sharing is found among many, and by name", () => {
  const named = (name: string, device: number, inode: number) => ({
    name,
    identity: { device: BigInt(device), inode: BigInt(inode) },
  });
  expect(sharedBuses([named("a", 62, 7), named("b", 74, 7), named("c", 62, 8)])).toEqual([]);
  expect(sharedBuses([named("a", 62, 7), named("b", 74, 7), named("c", 62, 7)])).toEqual([["a", "c"]]);
});

testNeeding(
  ["root", "program:dbus-daemon", "program:mount", `file:${STOCK}`],
  "two real buses on two tmpfs mounts, with equal inodes, are told apart by the device",
  async () => {
    await withFolder(async (folder) => {
      const mounts = ["one", "two"].map((name) => join(folder, name));
      const daemons: Awaited<ReturnType<typeof startDaemon>>[] = [];
      const flat = await flattenHostConfig(STOCK);
      for (const mount of mounts) mkdirSync(mount);
      try {
        for (const mount of mounts) {
          execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "drums-test", mount]);
          const socket = join(mount, "bus");
          const config = `${mount}.conf`;
          writeFileSync(config, writeConfig(flat, { address: unixAddress(socket) }));
          daemons.push(await startDaemon(config));
          await waitForBus(() => connectPath(socket));
        }
        const sockets = mounts.map((mount) => join(mount, "bus"));
        const stats = sockets.map((socket) => statSync(socket, { bigint: true }));
        expect(stats[0]?.ino).toBe(stats[1]?.ino);
        const buses = stats.map(({ dev, ino }, index) => ({
          name: `session ${index}`,
          identity: busIdentity({ device: dev, inode: ino }),
        }));
        expect(sharedBuses(buses)).toEqual([]);
        const reports = await Promise.all(
          sockets.map((socket) => verifyBus({ connect: () => connectPath(socket) })),
        );
        expect(reports.map(({ ok }) => ok)).toEqual([true, true]);
      } finally {
        for (const daemon of daemons) {
          daemon.kill("SIGKILL");
          await once(daemon, "exit");
        }
        for (const mount of mounts) unmount(mount);
      }
    });
  },
);

function unmount(mount: string): void {
  try {
    execFileSync("umount", [mount], { stdio: "ignore" });
  } catch {
    // It was never mounted, as the test failed before.
  }
}

test("the host's bus is compared before and after, and with the sessions' own", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "bus");
    const absent = await readHostBus(path);
    expect(await checkHostBus(absent)).toEqual({ ok: true, detail: `${path} is unchanged: not there` });
    const server = createServer().listen(path);
    await once(server, "listening");
    const before = await readHostBus(path);
    expect((await checkHostBus(before)).ok).toBe(true);
    expect((await checkHostBus(absent)).ok).toBe(false);
    const { identity } = before;
    if (identity === undefined) throw new Error("no identity");
    const shared = await checkHostBus(before, { others: [{ name: "session a", identity }] });
    expect(shared).toMatchObject({
      ok: false,
      detail: expect.stringContaining("session a has the host's own bus"),
    });
    server.close();
    await once(server, "close");
    rmSync(path, { force: true });
    writeFileSync(path, "");
    await expect(checkHostBus(before)).rejects.toMatchObject({ code: "NOT_A_SOCKET" });
  });
});
