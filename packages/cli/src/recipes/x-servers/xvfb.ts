import type { XServerRecipe } from "../types.js";
import { STANDARD_USER } from "../user.js";

/** On the upper, so that a checkpoint need not pipe it through tar. */
const FRAME_FOLDER = "/var/lib/drums/fb";

/**
 * A screen in memory, kept as a file that is read without a word of X.
 * -noreset, else the server starts anew when its last client leaves; -nolisten tcp, else it is on the network.
 */
export const xvfb: XServerRecipe = {
  name: "xvfb",
  program: "/usr/bin/Xvfb",
  folders: [{ path: FRAME_FOLDER, mode: 0o755, uid: STANDARD_USER.uid, gid: STANDARD_USER.gid }],
  frameFile: `${FRAME_FOLDER}/Xvfb_screen0`,
  argv: ({ width, height }) => [
    "Xvfb",
    ":0",
    ...["-screen", "0", `${width}x${height}x24`],
    ...["-fbdir", FRAME_FOLDER],
    ...["-nolisten", "tcp", "-ac", "-noreset"],
    ...["+extension", "GLX", "+extension", "RANDR", "+extension", "RENDER", "+extension", "COMPOSITE"],
    ...["-dpi", "96"],
  ],
};
