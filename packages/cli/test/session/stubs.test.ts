import { busCall, findMuteNames, stubCommand, stubNames, withBus } from "@drums/dbus-private";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { createCheckpoint } from "../../src/checkpoint/create.js";
import { loadCheckpoint } from "../../src/checkpoint/load.js";
import { restoreSibling } from "../../src/fork/sibling.js";
import type { LiveSession } from "../../src/session/open.js";
import { INSIDE } from "../../src/session/paths.js";
import { waitFor } from "../../src/session/wait-for.js";
import { GNOME_TIMEOUT_MS, type GnomeSession, withGnome } from "../support/gnome.js";
import { DESKTOP_NEEDS, testCriu } from "../support/test-home.js";

const FACTS = { hostname: "drums", timezone: "Etc/UTC", operatingSystem: "Debian GNU/Linux 12" };

function systemBus(live: LiveSession) {
  const base = live.record.spec.idBase ?? 0;
  return () => live.connectBus({ uid: base, gid: base });
}

/** Starts every stub as the session's root, and waits until each owns its name. */
async function startStubs({ live, spawn }: GnomeSession): Promise<void> {
  for (const stub of stubNames) {
    const [file = "", ...args] = stubCommand({ stub, busPath: INSIDE.bus, facts: FACTS });
    await spawn([file, ...args], { uid: 0 });
  }
  await waitFor(
    async () => {
      const owned = await withBus(systemBus(live), (bus) =>
        Promise.all(stubNames.map((stub) => bus.call(busCall("NameHasOwner", `org.freedesktop.${stub}`)))),
      );
      return owned.every(([isOwned]) => isOwned === true);
    },
    { what: "the stubs' names" },
  );
}

async function canPowerOff(live: LiveSession): Promise<unknown> {
  const [answer] = await withBus(systemBus(live), (bus) =>
    bus.call({
      destination: "org.freedesktop.login1",
      path: "/org/freedesktop/login1",
      interface: "org.freedesktop.login1.Manager",
      member: "CanPowerOff",
    }),
  );
  return answer;
}

testNeeding(
  DESKTOP_NEEDS,
  "stubs answer in a session, and from the same memory in a sibling of it",
  () =>
    withGnome({ alter: () => undefined }, async (gnome) => {
      const { home, live } = gnome;
      await startStubs(gnome);
      expect(await canPowerOff(live)).toBe("na");
      const criu = await testCriu();
      await createCheckpoint(home, live.record, { name: "stubs", criu });
      const loaded = await loadCheckpoint(home, "stubs", { criu });
      const sibling = await restoreSibling(home, loaded, { criu });
      try {
        expect(await canPowerOff(sibling.live)).toBe("na");
        expect(await canPowerOff(live)).toBe("na");
        expect(await findMuteNames(systemBus(sibling.live), { timeoutMs: 5_000 })).toEqual([]);
      } finally {
        sibling.live.close();
      }
    }),
  GNOME_TIMEOUT_MS,
);

testNeeding(
  DESKTOP_NEEDS,
  "GNOME comes up beside the stubs as it does without them",
  () =>
    withGnome({ prepare: startStubs }, async (gnome) => {
      const { verdict } = await gnome.wait();
      expect(verdict.reasons, verdict.name).toContainEqual(expect.stringContaining("the Shell runs"));
      expect(verdict.name).toBe("ready");
      expect(await canPowerOff(gnome.live)).toBe("na");
    }),
  GNOME_TIMEOUT_MS,
);
