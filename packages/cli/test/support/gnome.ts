import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type BusConnection, findMuteNames, openBus } from "@drums/dbus-private";
import {
  gatherFacts,
  gnomeRules,
  type ShellWatch,
  type WaitOptions,
  type WaitResult,
  waitUntilReady,
  wakeOnAny,
  watchDamage,
  watchShell,
} from "@drums/readiness";
import type { Home } from "../../src/home.js";
import { buildImage } from "../../src/image/index.js";
import { findDesktop } from "../../src/recipes/find.js";
import type { DesktopProgram, DesktopRecipe } from "../../src/recipes/types.js";
import { startDesktop } from "../../src/session/boot/desktop.js";
import { logPath } from "../../src/session/boot/inside.js";
import type { LiveSession } from "../../src/session/open.js";
import { INSIDE, USER } from "../../src/session/paths.js";
import { upSession } from "../../src/session/up.js";
import { withTestHome } from "./test-home.js";
import { sharedHome } from "./test-image.js";

/** A build of the GNOME image is part of the first test's time. */
export const GNOME_TIMEOUT_MS = 900_000;

/** How GNOME is started differently from its recipe. */
export interface GnomeFault {
  /** Changes a program of the recipe, or leaves it out by undefined. Default: all as they are. */
  alter?(program: DesktopProgram): DesktopProgram | undefined;
  /** Done before the first program starts. */
  prepare?(gnome: GnomeSession): Promise<void>;
  /** The system bus that is asked for mute names. Default: the session's own. */
  readonly systemBus?: string;
}

/** A session with a GNOME that a test started itself, with whatever fault. */
export interface GnomeSession {
  readonly home: Home;
  readonly live: LiveSession;
  readonly shell: ShellWatch;
  /** Starts a program as the desktop's user, or another one, through init. */
  spawn(argv: readonly [string, ...string[]], options?: { readonly uid?: number }): Promise<void>;
  /** The wait of `drums up`, with GNOME's rules. */
  wait(options?: Partial<WaitOptions>): Promise<WaitResult>;
  /** One look, for a judgement by {@link gnomeRules}. */
  look(): Promise<Pick<Required<WaitResult>, "frames" | "facts" | "bus">>;
}

/** The test itself ends the boot where the desktop would have been started. */
class Finished extends Error {}

/** Runs `body` with a GNOME that was started with `fault`, not waited for; everything is taken down afterwards. */
export async function withGnome(
  fault: GnomeFault,
  body: (gnome: GnomeSession) => Promise<void>,
): Promise<void> {
  const { path, sha256 } = await buildImage("gnome", { home: await sharedHome() });
  await withTestHome(async (home) => {
    const bused = async (live: LiveSession) => {
      const gnome = session(home, live, fault);
      try {
        await fault.prepare?.(gnome);
        await startDesktop(live, altered(fault), { timeoutMs: 60_000 });
        await body(gnome);
      } finally {
        gnome.shell.close();
      }
      throw new Finished();
    };
    const request = { image: path, expectedSha256: sha256, desktop: "gnome" };
    await upSession(home, request, { observe: { bused } }).catch((error: unknown) => {
      if (!(error instanceof Finished)) throw error;
    });
  });
}

/** Up to gnome-session: it is left to its start, in its Overview. */
function altered({ alter = (program) => program }: GnomeFault): DesktopRecipe {
  const recipe = findDesktop("gnome");
  const programs = recipe.programs
    .filter(({ name }) => ["xserver", "session-bus", "gnome-session"].includes(name))
    .map(alter)
    .filter((program) => program !== undefined);
  return { ...recipe, programs };
}

function session(home: Home, live: LiveSession, { systemBus = INSIDE.bus }: GnomeFault): GnomeSession {
  const base = live.record.spec.idBase ?? 0;
  const { sessionBus = "", env } = findDesktop("gnome");
  const stream = (path: string, uid: number) => () =>
    live.root.connectStream(path, { uid: base + uid, gid: base + uid });
  const mute = (path: string, uid: number) => findMuteNames(stream(path, uid)).catch(() => []);
  const shell = watchShell({
    connect: (): Promise<BusConnection> => openBus(stream(sessionBus, USER.uid), { uid: USER.uid }),
    muteNames: async () => [...(await mute(systemBus, 0)), ...(await mute(sessionBus, USER.uid))],
  });
  return {
    home,
    live,
    shell,
    async spawn(argv, { uid = USER.uid } = {}) {
      const log = logPath("test");
      await live.withInit((init) =>
        init.spawn({ argv: [...argv], env, uid, gid: uid, cwd: "/", stdout: log, stderr: log }),
      );
    },
    wait: (options = {}) =>
      live.withX(async (x) =>
        waitUntilReady({
          frame: live.frame,
          facts: () => gatherFacts(x),
          bus: () => shell.facts(),
          rules: gnomeRules(),
          wake: wakeOnAny(await watchDamage(x), shell),
          timeoutMs: 120_000,
          ...options,
        }),
      ),
    async look() {
      const [frame, facts, bus] = await Promise.all([live.frame(), live.facts(), shell.facts()]);
      return { frames: [frame], facts, bus };
    },
  };
}

/** Runs `body` while `count` loops keep the machine busy. */
export async function withBusyLoops<T>(count: number, body: () => Promise<T>): Promise<T> {
  const loops: ChildProcess[] = Array.from({ length: count }, () =>
    spawn("sh", ["-c", "while :; do :; done"], { stdio: "ignore" }),
  );
  try {
    return await body();
  } finally {
    for (const loop of loops) {
      const over = once(loop, "exit");
      loop.kill("SIGKILL");
      await over;
    }
  }
}
