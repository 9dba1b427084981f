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
      (await live.openSessionBus(sessionBusOf(recipe))).close();
      return true;
    },
  },
};

async function windowManagerIsDone(live: LiveSession): Promise<boolean> {
  const { windowManager, openboxTheme } = await live.facts();
  return windowManager !== undefined && (windowManager.name !== "Openbox" || openboxTheme !== undefined);
}

function sessionBusOf({ name, sessionBus }: DesktopRecipe): string {
  if (sessionBus !== undefined) return sessionBus;
  throw new DrumsError({
    code: "NO_SESSION_BUS",
    what: `the recipe of desktop ${name} names no session bus`,
  });
}
