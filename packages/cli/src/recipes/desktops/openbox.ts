import type { DesktopWithoutScreen } from "../types.js";
import { STANDARD_USER } from "../user.js";
import { programsOf, STANDARD_ENVIRONMENT, STANDARD_FOLDERS } from "./_standard.js";

/** Coloured and without history expansion, so that what is typed into the shell is what it runs. */
const PROMPT = String.raw`\[\e[1;38;5;28m\]\u@\h\[\e[0m\]:\[\e[1;38;5;25m\]\w\[\e[0m\]\$ `;

const program = programsOf(STANDARD_ENVIRONMENT);

const BACKGROUND = [
  "hsetroot",
  ...["-add", "#16222f", "-add", "#3d6d8c", "-gradient", "20"],
] as const satisfies readonly string[];

const TERMINAL = [
  "xterm",
  ...["-geometry", "100x30+60+60", "-fa", "DejaVu Sans Mono", "-fs", "12"],
  ...["-bg", "#fbfaf6", "-fg", "#1c2733", "-T", "Terminal", "+bc"],
  ...["-e", "bash", "--noprofile", "--norc", "+H"],
] as const satisfies readonly string[];

const TERMINAL_WINDOW = { class: "XTerm", focused: true } as const;

/**
 * openbox with one focused xterm, made to look the same at every start.
 * The X server comes in through a layer; everything runs as the image's user.
 */
export const openboxDesktop: DesktopWithoutScreen = {
  name: "openbox",
  user: STANDARD_USER,
  folders: STANDARD_FOLDERS,
  programs: [
    program("background", BACKGROUND, { startsAfter: ["display"], runs: "once" }),
    program("openbox", ["openbox", "--sm-disable"], { startsAfter: ["display"], runs: "stays" }),
    // A client that starts before openbox is ready appears seconds late.
    program("xterm", TERMINAL, { startsAfter: ["window-manager"], runs: "stays", env: { PS1: PROMPT } }),
  ],
  rules: "default",
  window: TERMINAL_WINDOW,
  applications: [{ name: "xterm", window: TERMINAL_WINDOW, process: "xterm", task: "terminal" }],
  env: STANDARD_ENVIRONMENT,
};
