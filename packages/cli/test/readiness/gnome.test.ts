import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodePng, gnomeRules, judge, pressKey, typeText, type VerdictName } from "@drums/readiness";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { waitFor } from "../../src/session/wait-for.js";
import { GNOME_TIMEOUT_MS, type GnomeFault, type GnomeSession, withGnome } from "../support/gnome.js";
import { DESKTOP_NEEDS } from "../support/test-home.js";
import {
  muteAccounts,
  shmCollision,
  signal,
  stoppedSystemBus,
  withEnvironment,
  withoutExtension,
} from "./faults.js";

/** What a start that comes to nothing may be called while it is under way: a Shell is gone before its page is there. */
const STARTING: readonly VerdictName[] = ["no-screen", "black-early", "shell-gone"];

/** Each with the verdict that it must come to, and what it may be called before beside {@link STARTING}. */
const FAULTS: readonly [name: string, fault: GnomeFault, verdict: VerdictName][] = [
  ["no-randr", withoutExtension("RANDR"), "black-no-monitor"],
  ["shm-collision", shmCollision, "black-with-ready-signals"],
  ["accounts-mute", muteAccounts, "stalled-on-bus"],
  ["system-bus-stopped", stoppedSystemBus, "stalled-on-bus"],
  ["no-system-bus", withEnvironment({ DBUS_SYSTEM_BUS_ADDRESS: "unix:path=/run/none" }), "failure-page"],
  ["no-composite", withoutExtension("Composite"), "failure-page"],
  ["no-session-type", withEnvironment({ XDG_SESSION_TYPE: undefined }), "failure-page"],
  ["no-home", withEnvironment({ HOME: "/proc/none" }), "shell-gone"],
];

/** Writes what was judged as a capture, where a folder for captures is named. */
async function keep(name: string, seen: Awaited<ReturnType<GnomeSession["look"]>>): Promise<void> {
  const folder = process.env.DRUMS_KEEP_CAPTURES;
  const frame = seen.frames.at(-1);
  if (folder === undefined || frame === undefined) return;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name}.png`), await encodePng(frame));
  await writeFile(
    join(folder, `${name}.json`),
    `${JSON.stringify({ facts: seen.facts, bus: seen.bus }, null, 1)}\n`,
  );
}

/** Waits for one verdict, and shows that no other than those of a start came before it. */
async function comesTo(gnome: GnomeSession, verdict: VerdictName): Promise<void> {
  const reached = new AbortController();
  const names: VerdictName[] = [];
  const waiting = gnome.wait({
    signal: reached.signal,
    onVerdict: ({ name }) => {
      names.push(name);
      if (name === verdict) reached.abort("reached");
    },
  });
  await expect(waiting).rejects.toMatchObject({ code: "ABORTED", cause: "reached" });
  expect(names.filter((name) => name !== verdict && !STARTING.includes(name))).toEqual([]);
}

describe("a GNOME that cannot be used is refused by the name of its cause", () => {
  for (const [name, fault, verdict] of FAULTS)
    testNeeding(
      DESKTOP_NEEDS,
      `${name}: ${verdict}`,
      () =>
        withGnome(fault, async (gnome) => {
          await comesTo(gnome, verdict);
          const again = await gnome.wait({ timeoutMs: 3_000 });
          expect(again.verdict).toMatchObject({ ready: false, remedy: expect.any(String) });
          await keep(name, await gnome.look());
        }),
      GNOME_TIMEOUT_MS,
    );
});

/** Looks until the verdict has the name; a dialog or a window takes a moment to appear. */
async function becomes(gnome: GnomeSession, verdict: VerdictName, rules = gnomeRules()): Promise<void> {
  await waitFor(
    async () => {
      const { name, reasons } = judge({ ...(await gnome.look()), rules });
      if (name !== verdict) throw new Error(`${name}: ${reasons[0]}`);
      return true;
    },
    { what: `a desktop that is ${verdict}`, timeoutMs: 60_000 },
  );
}

/** Types until the editor marks its text as changed: a window is there before its text takes the keyboard. */
async function typeUnsaved({ live }: GnomeSession): Promise<void> {
  const isChanged = async () => {
    const window = (await live.facts()).windows.find((one) => one.managed && one.class === "Gedit");
    if (window === undefined) return false;
    if (window.title?.startsWith("*")) return true;
    await live.withX((x) => typeText(x, "a", { window: window.id }));
    return false;
  };
  await waitFor(isChanged, { what: "a changed text", pollMs: 250 });
}

testNeeding(
  DESKTOP_NEEDS,
  "on a live GNOME dialogs, the Overview, dark desktops, a stopped Shell and a dead X server get their names",
  () =>
    withGnome({}, async (gnome) => {
      const { live, shell } = gnome;
      const key = (name: string) => live.withX((x) => pressKey(x, name));
      const setting = (...args: string[]) => gnome.spawn(["gsettings", "set", ...args]);
      // Only what is drawn and said can wake it: the next poll would come too late.
      const ready = await gnome.wait({ pollMs: 600_000 });
      expect(ready.verdict.reasons, ready.verdict.name).toContainEqual(
        expect.stringContaining("the Shell runs by its own word: OverviewActive true"),
      );
      await keep("overview", await gnome.look());
      await waitFor(
        async () => {
          await shell.setOverview(false);
          return (await shell.facts()).overviewActive === false;
        },
        { what: "the Overview to be left" },
      );
      await becomes(gnome, "ready");

      await key("Alt+F2");
      await becomes(gnome, "modal-dialog");
      await keep("run-dialog", await gnome.look());
      await key("Escape");
      await becomes(gnome, "ready");

      const editor = gnomeRules({ window: { class: /gedit/i, focused: true } });
      await gnome.spawn(["gedit"]);
      await becomes(gnome, "ready", editor);
      await typeUnsaved(gnome);
      await key("Ctrl+q");
      await becomes(gnome, "modal-dialog", editor);
      await keep("save-dialog", await gnome.look());
      await key("Escape");
      await becomes(gnome, "ready", editor);

      await gnome.spawn(["gnome-session-quit", "--logout"]);
      await becomes(gnome, "modal-dialog", editor);
      await key("Escape");
      await becomes(gnome, "ready", editor);

      await shell.setOverview(true);
      await becomes(gnome, "window-not-focused", editor);
      await keep("overview-with-gedit", await gnome.look());
      await shell.setOverview(false);
      await becomes(gnome, "ready", editor);

      await setting("org.gnome.desktop.background", "color-shading-type", "solid");
      await setting("org.gnome.desktop.background", "primary-color", "#000000");
      await setting("org.gnome.desktop.interface", "gtk-theme", "Adwaita-dark");
      const terminal = gnomeRules({ window: { class: /terminal/i, focused: true } });
      await gnome.spawn(["gnome-terminal"]);
      await becomes(gnome, "ready", terminal);
      expect(judge({ ...(await gnome.look()), rules: terminal }).checks).toContainEqual(
        expect.objectContaining({ name: "other windows", ok: true, detail: expect.stringContaining("edit") }),
      );
      const alone = gnomeRules({ window: { class: /terminal/i }, otherWindows: false });
      await becomes(gnome, "unexpected-window", alone);
      await signal(gnome, "KILL", "gedit");
      await becomes(gnome, "ready", alone);
      await keep("dark-terminal", await gnome.look());
      await key("Ctrl+d");
      await waitFor(async () => (await live.facts()).clientList.length === 0, { what: "a closed terminal" });
      await becomes(gnome, "ready");
      await keep("black-background", await gnome.look());

      await signal(gnome, "STOP", "gnome-shell");
      const stopped = await gnome.wait({ timeoutMs: 6_000 });
      expect(stopped.verdict.name).toBe("stalled-on-bus");
      expect(stopped.verdict.remedy).toContain("org.gnome.Shell");
      await signal(gnome, "CONT", "gnome-shell");
      await becomes(gnome, "ready");

      let killed: Promise<void> | undefined;
      const gone = await gnome.wait({
        settleMs: 60_000,
        onVerdict: () => {
          killed ??= signal(gnome, "KILL", "Xvfb");
        },
      });
      await killed;
      expect(gone.verdict.name).toBe("x-server-gone");
    }),
  GNOME_TIMEOUT_MS,
);
