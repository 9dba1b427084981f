import { expect } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { busCall, findMuteNames, probeNames, withBus as withConnection } from "../src/index.js";
import { openConfig, ownName, STOCK, withBus } from "./support.js";

const OPEN = { config: openConfig };

testNeeding(
  ["program:dbus-daemon"],
  "a name that is owned but mute is found, and one that answers with an error is not mute",
  async () => {
    await withBus(async (bus) => {
      await ownName(bus, "org.example.Accounts", { answers: false });
      await ownName(bus, "org.example.Power", { answers: true });
      const report = await withConnection(bus.connect, (connection) =>
        probeNames(connection, { timeoutMs: 300 }),
      );
      expect(report.names.map(({ name, status }) => [name, status]).sort()).toEqual([
        ["org.example.Accounts", "mute"],
        ["org.example.Power", "answers"],
      ]);
      expect(report.mute).toEqual(["org.example.Accounts"]);
      expect(await findMuteNames(bus.connect)).toEqual(["org.example.Accounts"]);
    }, OPEN);
  },
);

testNeeding(["program:dbus-daemon"], "a name whose owner leaves while it is asked is not mute", async () => {
  await withBus(async (bus) => {
    const owner = await ownName(bus, "org.example.Short", { answers: false });
    const report = withConnection(bus.connect, (connection) => probeNames(connection, { timeoutMs: 60_000 }));
    // Asked by now or not yet: either way nobody owns the name when the answer comes.
    setTimeout(() => owner.leave(), 200);
    expect((await report).mute).toEqual([]);
  }, OPEN);
});

testNeeding(
  ["program:dbus-daemon", `file:${STOCK}`],
  "where the policy keeps every question from a name, it is told as denied and not as mute",
  async () => {
    const config = (address: string) =>
      openConfig(address).replace(
        "</policy>",
        `</policy><policy context="mandatory"><deny send_destination="org.example.Shut"/></policy>`,
      );
    await withBus(
      async (bus) => {
        await ownName(bus, "org.example.Shut", { answers: false });
        const { names, mute } = await withConnection(bus.connect, (connection) => probeNames(connection));
        expect(names).toMatchObject([{ name: "org.example.Shut", status: "denied" }]);
        expect(mute).toEqual([]);
      },
      { config },
    );
  },
);

testNeeding(["program:dbus-daemon"], "of a bus that is mute itself its own name is told", async () => {
  await withBus(async (bus) => {
    bus.daemon.kill("SIGSTOP");
    expect(await findMuteNames(bus.connect, { timeoutMs: 100 })).toEqual(["org.freedesktop.DBus"]);
  }, OPEN);
});

testNeeding(["program:dbus-daemon"], "signals that were asked for are heard until they are not", async () => {
  await withBus(async (bus) => {
    await withConnection(bus.connect, async (connection) => {
      const heard: (string | undefined)[] = [];
      const changed = new Promise<void>((resolve) => {
        connection.onSignal(({ member }) => {
          heard.push(member);
          if (member === "NameOwnerChanged") resolve();
        });
      });
      await connection.call(busCall("AddMatch", "type='signal',member='NameOwnerChanged'"));
      const owner = await ownName(bus, "org.example.New", { answers: true });
      await changed;
      owner.leave();
      expect(heard).toContain("NameOwnerChanged");
    });
  }, OPEN);
});
