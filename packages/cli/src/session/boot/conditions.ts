import { DrumsError } from "../../errors.js";
import type { DesktopRecipe, StartCondition } from "../../recipes/types.js";
import type { LiveSession } from "../open.js";

/** What a condition is called in an error, and whether it holds now; a throw counts as "not yet". */
interface Condition {
  readonly what: string;
  holds(live: LiveSession, recipe: DesktopRecipe): Promise<boolean>;
}

/** Each thing that a program may have to wait for. Every look opens a connection and closes it again. */
export const CONDITIONS: Readonly<Record<StartCondition, Condition>> = {
  display: {
    what: "the X server",
    holds: async (live) => {
      await live.withX(async () => undefined);
      return true;
    },
  },
  "window-manager": { what: "the window manager", holds: windowManagerIsDone },
  "session-bus": {
    what: "the session bus",
    holds: async (live, recipe) => {
      await live.withSessionBus(sessionBusOf(recipe), async () => undefined);
      return true;
    },
  },
  "gnome-session": { what: "GNOME's session manager and Shell", holds: gnomeRuns },
  "overview-left": {
    what: "the closed Overview",
    holds: async (live, recipe) => (await overviewActive(live, recipe)) === false,
  },
};

async function windowManagerIsDone(live: LiveSession): Promise<boolean> {
  const { windowManager, openboxTheme } = await live.facts();
  return windowManager !== undefined && (windowManager.name !== "Openbox" || openboxTheme !== undefined);
}

async function gnomeRuns(live: LiveSession, recipe: DesktopRecipe): Promise<boolean> {
  const [running] = await live.withSessionBus(sessionBusOf(recipe), (bus) =>
    bus.call({
      destination: "org.gnome.SessionManager",
      path: "/org/gnome/SessionManager",
      interface: "org.gnome.SessionManager",
      member: "IsSessionRunning",
      args: [],
    }),
  );
  return running === true && (await overviewActive(live, recipe)) !== undefined;
}

/** Whether GNOME Shell's Overview is open; undefined where it gives another answer. Throws while there is no shell. */
export async function overviewActive(live: LiveSession, recipe: DesktopRecipe): Promise<boolean | undefined> {
  const [value] = await live.withSessionBus(sessionBusOf(recipe), (bus) =>
    bus.call({
      destination: "org.gnome.Shell",
      path: "/org/gnome/Shell",
      interface: "org.freedesktop.DBus.Properties",
      member: "Get",
      args: ["org.gnome.Shell", "OverviewActive"],
    }),
  );
  if (typeof value !== "object" || value === null || !("value" in value)) return undefined;
  return typeof value.value === "boolean" ? value.value : undefined;
}

function sessionBusOf({ name, sessionBus }: DesktopRecipe): string {
  if (sessionBus !== undefined) return sessionBus;
  throw new DrumsError({
    code: "NO_SESSION_BUS",
    what: `the recipe of desktop ${name} names no session bus`,
  });
}
