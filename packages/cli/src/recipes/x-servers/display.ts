import { programsOf } from "../desktops/_standard.js";
import type { DesktopFolder, DesktopRecipe, DesktopWithoutScreen, Screen, XServerRecipe } from "../types.js";

const SOCKETS = "/tmp/.X11-unix";

/** Only root may make it: an X server of another user refuses to. */
const SOCKET_FOLDER: DesktopFolder = { path: SOCKETS, mode: 0o1777, uid: 0, gid: 0 };

/** A desktop on a screen that an X server makes up, started before everything else. */
export function onScreen(
  desktop: DesktopWithoutScreen,
  { xServer, screen }: { readonly xServer: XServerRecipe; readonly screen: Screen },
): DesktopRecipe {
  const program = programsOf(desktop.env);
  return {
    ...desktop,
    xServer,
    display: { name: ":0", socket: `${SOCKETS}/X0`, ...screen },
    files: xServer.files?.(screen) ?? [],
    folders: [SOCKET_FOLDER, ...xServer.folders, ...desktop.folders],
    programs: [
      program("xserver", xServer.argv(screen), { startsAfter: [], runs: "stays" }),
      ...desktop.programs,
    ],
  };
}
