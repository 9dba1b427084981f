import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { type BusReport, verifyBus } from "../src/index.js";
import { STOCK, type TestBus, withBus, withFolder } from "./support.js";

const NEEDS = ["program:dbus-daemon", `file:${STOCK}`] as const;

function failed({ checks }: BusReport): string[] {
  return checks.filter(({ ok }) => !ok).map(({ name }) => name);
}

testNeeding(NEEDS, "a bus on the stock configuration, flattened, activates nothing", async () => {
  await withBus(async ({ connect }) => {
    const report = await verifyBus({ connect });
    expect(failed(report)).toEqual([]);
    expect(report.ok).toBe(true);
    expect(report.activatable).toEqual(["org.freedesktop.DBus"]);
    expect(report.names).toEqual(["org.freedesktop.DBus"]);
    expect(report.missingName.error).toBe("org.freedesktop.DBus.Error.ServiceUnknown");
    expect(report.id).toMatch(/^[0-9a-f]{32}$/);
  });
});

testNeeding(NEEDS, "a bus with a folder of services activates, and is told apart", async () => {
  await withFolder(async (services) => {
    writeFileSync(join(services, "a.b.service"), "[D-BUS Service]\nName=a.b\nExec=/bin/false\n");
    const config = (address: string) => `<busconfig><listen>${address}</listen>
      <policy context="default"><allow user="*"/><allow send_destination="*"/><allow eavesdrop="true"/></policy>
      <servicedir>${services}</servicedir></busconfig>`;
    const body = async ({ connect }: TestBus) => {
      const report = await verifyBus({ connect });
      expect(failed(report)).toEqual(["activatable"]);
      expect(report.activatable).toEqual(["org.freedesktop.DBus", "a.b"]);
      expect(report.ok).toBe(false);
    };
    await withBus(body, { config });
  });
});

testNeeding(NEEDS, "two buses at once answer with two ids", async () => {
  await withBus(async (one) => {
    await withBus(async (two) => {
      const reports = await Promise.all([one, two].map(({ connect }) => verifyBus({ connect })));
      expect(new Set(reports.map(({ id }) => id)).size).toBe(2);
    });
  });
});

testNeeding(NEEDS, "a stopped bus ends the verification by time", async () => {
  await withBus(async ({ connect, daemon }) => {
    daemon.kill("SIGSTOP");
    await expect(verifyBus({ connect, timeoutMs: 50 })).rejects.toMatchObject({ code: "TIMEOUT" });
  });
});
