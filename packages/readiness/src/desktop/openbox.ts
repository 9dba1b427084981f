import type { DesktopProfile } from "./types.js";

/**
 * openbox. Its check window is on the root before it manages windows: a program started then appears
 * seconds late. `_OB_THEME` comes last, so it tells that openbox is done. It paints no wallpaper or panel.
 */
export const openbox: DesktopProfile = {
  name: "openbox",
  paintsItself: false,
  matches: ({ windowManager }) => windowManager?.name?.toLowerCase() === "openbox",
  checks: ({ facts }) => [
    {
      name: "openbox is done starting",
      ok: facts === undefined ? "unknown" : facts.openboxTheme !== undefined,
      detail:
        facts?.openboxTheme === undefined
          ? "_OB_THEME is not on the root yet"
          : `_OB_THEME is ${facts.openboxTheme}`,
      failure: {
        verdict: "window-manager-starting",
        remedy: "wait; when it stays so, look at openbox's log for its theme and menu files",
      },
    },
  ],
};
