import { NsexecError } from "../errors.js";
import type { InitClient } from "../init-client/index.js";

const ENVIRONMENT = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" } as const;

/** Replaces a file as a whole; `put PATH TEXT MODE`. */
const PUT = 'put() { printf %s "$2" >"$1.new"; chmod "$3" "$1.new"; mv -f "$1.new" "$1"; }';

/**
 * Runs a shell script inside a session, as its root, and gives what it printed. The host writes nothing there itself.
 * @throws NsexecError code IDENTITY_FAILED, step `what`, with what the script complained of
 */
export async function runScript(
  init: InitClient,
  {
    what,
    script,
    args,
  }: { readonly what: string; readonly script: string; readonly args: readonly string[] },
): Promise<string> {
  const text = `set -eu; umask 022; ${PUT}\n${script}`;
  const done = await init.run({ argv: ["/bin/sh", "-c", text, "sh", ...args], env: ENVIRONMENT });
  if (done.code === 0) return done.stdout.toString();
  const how = done.code === undefined ? done.signal : `status ${done.code}`;
  throw new NsexecError(
    "IDENTITY_FAILED",
    `${what} could not be set inside the session: ${how}, ${done.stderr.toString().trim().slice(0, 500)}`,
    { step: what, hint: "The session's image lacks a program that this needs, or its disk is full." },
  );
}
