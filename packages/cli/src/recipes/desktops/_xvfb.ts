import type { DesktopFolder, DesktopProgram, DesktopRecipe } from "../types.js";
import { STANDARD_USER } from "../user.js";

const FRAME_FOLDER = "/var/lib/drums/fb";

/** A screen that Xvfb makes up. */
export interface Screen {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
}

/** The size that OSWorld-like tasks have been recorded in here: 1280×800, 24 bit. */
export const STANDARD_SCREEN: Screen = { width: 1280, height: 800, depth: 24 };

/** What every program of a standard desktop finds in its environment. */
export const STANDARD_ENVIRONMENT = {
  DISPLAY: ":0",
  HOME: STANDARD_USER.home,
  LANG: "C.UTF-8",
  LOGNAME: STANDARD_USER.name,
  PATH: "/usr/local/bin:/usr/bin:/bin",
  SHELL: STANDARD_USER.shell,
  USER: STANDARD_USER.name,
  XDG_RUNTIME_DIR: `/run/user/${STANDARD_USER.uid}`,
  XDG_SESSION_TYPE: "x11",
} as const;

/** Where Xvfb's display is found. */
export function xvfbDisplay(screen: Screen): DesktopRecipe["display"] {
  return { name: ":0", socket: "/tmp/.X11-unix/X0", ...screen, frameFile: `${FRAME_FOLDER}/Xvfb_screen0` };
}

/** Folders of the X server and of the user's session; only root may make the first, an X server of another user refuses to. */
export const XVFB_FOLDERS: readonly DesktopFolder[] = [
  { path: "/tmp/.X11-unix", mode: 0o1777, uid: 0, gid: 0 },
  { path: FRAME_FOLDER, mode: 0o755, uid: STANDARD_USER.uid, gid: STANDARD_USER.gid },
  {
    path: STANDARD_ENVIRONMENT.XDG_RUNTIME_DIR,
    mode: 0o700,
    uid: STANDARD_USER.uid,
    gid: STANDARD_USER.gid,
  },
];

/** -noreset, else the server starts anew when its last client leaves; -nolisten tcp, else it is on the network. */
export function xvfbArgv({ width, height, depth }: Screen): DesktopProgram["argv"] {
  return [
    "Xvfb",
    ":0",
    ...["-screen", "0", `${width}x${height}x${depth}`],
    ...["-fbdir", FRAME_FOLDER],
    ...["-nolisten", "tcp", "-ac", "-noreset"],
    ...["+extension", "GLX", "+extension", "RANDR", "+extension", "RENDER", "+extension", "COMPOSITE"],
    ...["-dpi", "96"],
  ];
}

/** Makes programs of the standard user with one environment. */
export function programsOf(env: Readonly<Record<string, string>>) {
  const { uid, gid, home: cwd } = STANDARD_USER;
  return (
    name: string,
    argv: DesktopProgram["argv"],
    how: Pick<DesktopProgram, "startsAfter" | "runs"> & Partial<Pick<DesktopProgram, "env" | "variants">>,
  ): DesktopProgram => ({ name, argv, uid, gid, cwd, ...how, env: { ...env, ...how.env } });
}
