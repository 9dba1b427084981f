import type { DesktopFolder, DesktopProgram } from "../types.js";
import { STANDARD_USER } from "../user.js";

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

/** Folders of the user's session. */
export const STANDARD_FOLDERS: readonly DesktopFolder[] = [
  {
    path: STANDARD_ENVIRONMENT.XDG_RUNTIME_DIR,
    mode: 0o700,
    uid: STANDARD_USER.uid,
    gid: STANDARD_USER.gid,
  },
];

/** Makes programs of the standard user with one environment. */
export function programsOf(env: Readonly<Record<string, string>>) {
  const { uid, gid, home: cwd } = STANDARD_USER;
  return (
    name: string,
    argv: DesktopProgram["argv"],
    how: Pick<DesktopProgram, "startsAfter" | "runs"> & Partial<Pick<DesktopProgram, "env" | "variants">>,
  ): DesktopProgram => ({ name, argv, uid, gid, cwd, ...how, env: { ...env, ...how.env } });
}
