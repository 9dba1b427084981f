import { posix } from "node:path";
import type { InitClient } from "@drums/nsexec";
import { DrumsError, EXIT } from "../../errors.js";
import { INSIDE } from "../paths.js";

/** Environment of the small programs that prepare a session. */
const ENVIRONMENT = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" } as const;

/** Where the log of a program lies inside the session. */
export function logPath(name: string): string {
  return `${INSIDE.logs}/${name}.log`;
}

/** Runs a program of the session as its root to its end. @throws DrumsError SESSION_PROGRAM where that is not status 0 */
export async function mustRun(init: InitClient, argv: readonly string[]): Promise<void> {
  const done = await init.run({ argv: [...argv], env: ENVIRONMENT, uid: 0, gid: 0 });
  if (done.code === 0) return;
  throw new DrumsError({
    code: "SESSION_PROGRAM",
    exitCode: EXIT.verdictFailed,
    what: `${argv[0]} failed inside the session`,
    where: argv.slice(1).join(" ").slice(0, 200),
    why: `${done.code === undefined ? done.signal : `status ${done.code}`}: ${done.stderr.toString().slice(0, 500)}`,
    hint: "the image lacks something that a session needs; `drums image inspect` shows what it is",
  });
}

/** Writes a file inside the session, by a program of the session: the host itself never writes there. */
export async function writeInside(init: InitClient, path: string, text: string): Promise<void> {
  const script = 'umask 022; mkdir -p "$1"; printf %s "$3" > "$2"';
  await mustRun(init, ["/bin/sh", "-c", script, "sh", posix.dirname(path), path, text]);
}

/** Makes a folder inside the session with its mode and owner. */
export async function makeFolder(
  init: InitClient,
  {
    path,
    mode,
    uid,
    gid,
  }: { readonly path: string; readonly mode: number; readonly uid: number; readonly gid: number },
): Promise<void> {
  await mustRun(init, [
    "/usr/bin/install",
    "-d",
    "-m",
    mode.toString(8),
    "-o",
    `${uid}`,
    "-g",
    `${gid}`,
    path,
  ]);
}
