import { expect, test } from "vitest";
import { findSystemConfig, preflight } from "../src/index.js";

const there =
  (...paths: string[]) =>
  async (path: string) =>
    paths.includes(path);

test("a machine with a daemon and a configuration is ok", async () => {
  const items = await preflight({ exists: there("/usr/bin/dbus-daemon", "/etc/dbus-1/system.conf") });
  expect(items.map(({ status }) => status)).toEqual(["ok", "ok"]);
});

test("what is missing is a gap with a remedy, and a blocker where a bus is to be started", async () => {
  for (const [required, status] of [
    [false, "gap"],
    [true, "blocker"],
  ] as const) {
    const items = await preflight({ exists: there(), required });
    expect(items.map((item) => item.status)).toEqual([status, status]);
    for (const { remedy } of items) expect(remedy).toContain("install");
  }
});

test("the newer of the standard configurations is taken, then the older", async () => {
  const both = there("/usr/share/dbus-1/system.conf", "/etc/dbus-1/system.conf");
  expect(await findSystemConfig(both)).toBe("/usr/share/dbus-1/system.conf");
  expect(await findSystemConfig(there("/etc/dbus-1/system.conf"))).toBe("/etc/dbus-1/system.conf");
  expect(await findSystemConfig(there())).toBeUndefined();
});
