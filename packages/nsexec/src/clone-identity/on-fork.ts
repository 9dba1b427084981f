import { NsexecError } from "../errors.js";
import type { InitClient, RunResult } from "../init-client/index.js";
import type { CloneIdentity } from "./types.js";

/** A program of the session that is run in each sibling, after its identity is in place. */
export interface OnForkProgram {
  /** Absolute path inside the session. */
  readonly path: string;
  /** As the session counts it. Default 0. */
  readonly uid?: number;
  /** Default: the uid. */
  readonly gid?: number;
  /** Beside PATH and the DRUMS_ variables. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** It is killed after this. Default 60 000. */
  readonly timeoutMs?: number;
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Runs a program in a session, by its init, and waits for its end. It finds who it is in DRUMS_SESSION,
 * DRUMS_GENERATION, DRUMS_CHECKPOINT and DRUMS_PARENT; the token is in its file alone, as an environment is open to others.
 * @throws NsexecError code ON_FORK_FAILED, naming the program, how it ended and what it said last
 */
export async function runOnFork(
  init: InitClient,
  identity: CloneIdentity,
  { path, uid = 0, gid = uid, env = {}, timeoutMs = 60_000 }: OnForkProgram,
): Promise<void> {
  const variables = {
    ...{ PATH, ...env },
    DRUMS_SESSION: identity.session,
    DRUMS_GENERATION: String(identity.generation),
    DRUMS_CHECKPOINT: identity.checkpoint ?? "",
    DRUMS_PARENT: identity.parent ?? "",
  };
  const options = { argv: [path], env: variables, uid, gid, timeoutMs };
  const done = await init.run(options).catch((cause: unknown) => {
    throw failed(path, cause instanceof Error ? cause.message : String(cause), cause);
  });
  if (done.code !== 0) throw failed(path, endOf(done));
}

function endOf({ code, signal, stderr, stdout }: RunResult): string {
  const how = code === undefined ? `it was ended by ${signal}` : `it ended with status ${code}`;
  const said = `${stdout}${stderr}`.trim().split("\n").slice(-3).join(" | ").slice(0, 500);
  return said === "" ? how : `${how}, and said: ${said}`;
}

function failed(path: string, why: string, cause?: unknown): NsexecError {
  return new NsexecError("ON_FORK_FAILED", `${path} failed in the session: ${why}`, {
    path,
    hint: "Try it in a session that runs: it must be there, executable, and end with status 0.",
    cause,
  });
}
