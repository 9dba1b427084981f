import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { findDesktop } from "../../src/recipes/find.js";
import { mustRun } from "../../src/session/boot/inside.js";
import { awaitReady } from "../../src/session/boot/ready.js";
import { INSIDE } from "../../src/session/paths.js";
import { muteOwner } from "../readiness/faults.js";
import { GNOME_TIMEOUT_MS, type GnomeFault, withGnome } from "../support/gnome.js";
import { DESKTOP_NEEDS } from "../support/test-home.js";

const gnome = findDesktop("gnome");
const NAME = "org.freedesktop.secrets";

/** Screen and session bus, and where GNOME would be started nothing. */
const withoutShell: GnomeFault = {
  alter: (program) =>
    program.name === "gnome-session" ? { ...program, argv: ["true"], variants: [], runs: "once" } : program,
};

testNeeding(
  DESKTOP_NEEDS,
  "a name that is owned but mute is found on the session bus too, also where the system bus is gone",
  () =>
    withGnome(withoutShell, async ({ live, spawn }) => {
      const found = async () => {
        const { verdict, bus } = await awaitReady(live, gnome, { timeoutMs: 3_000 });
        expect(verdict.ready).toBe(false);
        return bus?.mute.map(({ name }) => name);
      };
      expect(await found()).toEqual([]);
      await spawn(muteOwner(gnome.sessionBus ?? "", NAME));
      expect(await found()).toEqual([NAME]);
      await live.withInit((init) => mustRun(init, ["rm", INSIDE.bus]));
      expect(await found()).toEqual([NAME]);
    }),
  GNOME_TIMEOUT_MS,
);
