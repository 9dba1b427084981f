import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import {
  busCommand,
  flattenHostConfig,
  unixAddress,
  verifyBus,
  waitForBus,
  writeConfig,
} from "../src/index.js";
import { connectPath, STOCK, startDaemon, withFolder } from "./support.js";

test("the command names the configuration and neither forks nor activates", () => {
  expect(busCommand({ configPath: "/run/drums/bus.conf" })).toEqual([
    "/usr/bin/dbus-daemon",
    "--config-file=/run/drums/bus.conf",
    "--nofork",
    "--nopidfile",
    "--nosyslog",
  ]);
});

testNeeding(["program:dbus-daemon", `file:${STOCK}`], "a bus that starts late is waited for", async () => {
  await withFolder(async (folder) => {
    const socket = join(folder, "bus");
    const configPath = join(folder, "bus.conf");
    writeFileSync(configPath, writeConfig(await flattenHostConfig(STOCK), { address: unixAddress(socket) }));
    const waited = waitForBus(() => connectPath(socket));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const daemon = await startDaemon(configPath);
    try {
      const { attempts, serverGuid } = await waited;
      expect(attempts).toBeGreaterThan(1);
      expect(serverGuid).toMatch(/^[0-9a-f]{32}$/);
      expect((await verifyBus({ connect: () => connectPath(socket) })).ok).toBe(true);
    } finally {
      daemon.kill("SIGKILL");
      await once(daemon, "exit");
    }
  });
});

test("a bus that never comes is an error with the last cause, in time", async () => {
  const waited = waitForBus(() => connectPath("/nonexistent/bus"), { timeoutMs: 60 });
  await expect(waited).rejects.toMatchObject({
    code: "NOT_READY",
    message: expect.stringContaining("ENOENT"),
    hint: expect.stringContaining("log"),
  });
});

test("a wait can be ended from outside", async () => {
  const controller = new AbortController();
  const waited = waitForBus(() => connectPath("/nonexistent/bus"), { signal: controller.signal });
  controller.abort(new Error("stopped by us"));
  await expect(waited).rejects.toThrow("stopped by us");
});
