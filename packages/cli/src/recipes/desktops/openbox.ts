import type { DesktopProgram, DesktopRecipe } from "../types.js";
import { STANDARD_USER } from "../user.js";

const SCREEN = { width: 1280, height: 800, depth: 24 } as const;
const FRAME_FOLDER = "/var/lib/drums/fb";

const ENVIRONMENT = {
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

/** Coloured and without history expansion, so that what is typed into the shell is what it runs. */
const PROMPT = String.raw`\[\e[1;38;5;28m\]\u@\h\[\e[0m\]:\[\e[1;38;5;25m\]\w\[\e[0m\]\$ `;

/** -noreset, else the server starts anew when its last client leaves; -nolisten tcp, else it is on the network. */
const XVFB = program("xserver", "nothing", "stays", [
  "Xvfb",
  ":0",
  ...["-screen", "0", `${SCREEN.width}x${SCREEN.height}x${SCREEN.depth}`],
  ...["-fbdir", FRAME_FOLDER],
  ...["-nolisten", "tcp", "-ac", "-noreset"],
  ...["+extension", "GLX", "+extension", "RANDR", "+extension", "RENDER", "+extension", "COMPOSITE"],
  ...["-dpi", "96"],
]);

const BACKGROUND = program("background", "display", "once", [
  "hsetroot",
  ...["-add", "#16222f", "-add", "#3d6d8c", "-gradient", "20"],
]);

const WINDOW_MANAGER = program("openbox", "display", "stays", ["openbox", "--sm-disable"]);

/** Waits for the window manager: a client that starts before openbox is ready appears seconds late. */
const TERMINAL = program(
  "xterm",
  "window-manager",
  "stays",
  [
    "xterm",
    ...["-geometry", "100x30+60+60", "-fa", "DejaVu Sans Mono", "-fs", "12"],
    ...["-bg", "#fbfaf6", "-fg", "#1c2733", "-T", "Terminal", "+bc"],
    ...["-e", "bash", "--noprofile", "--norc", "+H"],
  ],
  { PS1: PROMPT },
);

/**
 * openbox with one focused xterm, made to look the same at every start.
 * The X server comes in through a layer; everything runs as the image's user.
 */
export const openboxDesktop: DesktopRecipe = {
  name: "openbox",
  layers: ["xvfb"],
  user: STANDARD_USER,
  display: {
    name: ":0",
    socket: "/tmp/.X11-unix/X0",
    ...SCREEN,
    frameFile: `${FRAME_FOLDER}/Xvfb_screen0`,
  },
  folders: [
    // Only root may make it; an X server of another user refuses to.
    { path: "/tmp/.X11-unix", mode: 0o1777, uid: 0, gid: 0 },
    { path: FRAME_FOLDER, mode: 0o755, uid: STANDARD_USER.uid, gid: STANDARD_USER.gid },
    {
      path: ENVIRONMENT.XDG_RUNTIME_DIR,
      mode: 0o700,
      uid: STANDARD_USER.uid,
      gid: STANDARD_USER.gid,
    },
  ],
  programs: [XVFB, BACKGROUND, WINDOW_MANAGER, TERMINAL],
  readinessRules: "openbox",
  focusedClass: "XTerm",
};

function program(
  name: string,
  startsAfter: DesktopProgram["startsAfter"],
  runs: DesktopProgram["runs"],
  argv: DesktopProgram["argv"],
  env: Readonly<Record<string, string>> = {},
): DesktopProgram {
  const { uid, gid, home: cwd } = STANDARD_USER;
  return { name, argv, env: { ...ENVIRONMENT, ...env }, uid, gid, cwd, startsAfter, runs };
}
