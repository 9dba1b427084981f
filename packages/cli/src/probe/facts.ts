import { createHash } from "node:crypto";
import { IDENTITY_FILES } from "@drums/nsexec";
import { listPidNamespace, readStartTime } from "@drums/nsexec/proc";
import { codeOf, DrumsError } from "../errors.js";
import { monotonicMs } from "../evidence/clock.js";
import type { ProcessEntry } from "../evidence/records/common.js";
import type { RecordInput } from "../evidence/records.js";
import type { ProcessIdentity } from "../session/identity.js";
import type { LiveSession } from "../session/open.js";
import { USER } from "../session/paths.js";

const TOKEN_FILE = `${USER.home}/.drums-token`;
const MARKER_FILE = `${USER.home}/drums-marker.txt`;
const ENVIRONMENT = { PATH: "/usr/bin:/bin", HOME: USER.home } as const;

/** Makes 16 random hex characters inside the session, keeps them in a file of the user's, and returns what was printed. */
export function makeToken(live: LiveSession): Promise<RecordInput<"token.json">> {
  return userProgram(live, [
    "/bin/sh",
    "-c",
    "head -c 8 /dev/urandom | od -An -v -tx1 | tr -d ' \\n' | tee \"$1\"",
    "sh",
    TOKEN_FILE,
  ]);
}

/** What a program of the session reads from the token's file. */
export function readToken(live: LiveSession): Promise<RecordInput<"token.json">> {
  return userProgram(live, ["/bin/cat", TOKEN_FILE]);
}

/** Who a program of the session finds it is. */
export async function readIdentity(live: LiveSession): Promise<RecordInput<"identity.json">> {
  const { generation, token } = IDENTITY_FILES;
  const { value, ...run } = await userProgram(live, [
    "/bin/cat",
    "/proc/sys/kernel/hostname",
    generation,
    token,
  ]);
  const [hostname = "", number = "", word = ""] = value.split("\n");
  return { ...run, hostname, generation: number, token: word };
}

/** Writes the marker file by a program of the session, then reads it from outside. */
export async function makeMarker(live: LiveSession, text: string): Promise<RecordInput<"marker.json">> {
  const argv = ["/bin/sh", "-c", 'printf "%s\\n" "$2" > "$1"', "sh", MARKER_FILE, text];
  const { exitCode } = await userProgram(live, argv);
  return { ...(await readMarker(live)), argv, exitCode };
}

/** Reads the marker by a program of the session and from outside; the record holds what was found outside. */
export async function readMarker(live: LiveSession): Promise<RecordInput<"marker.json">> {
  const argv = ["/bin/cat", MARKER_FILE];
  const { exitCode } = await userProgram(live, argv);
  const content = await live.root.readFile(MARKER_FILE);
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { argv, exitCode, path: MARKER_FILE, content: content.toString(), sha256 };
}

/** Content of a file of the session, null where it has none. */
export async function readIfThere(live: LiveSession, path: string): Promise<string | null> {
  try {
    return (await live.root.readFile(path)).toString();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** Every process of a session by its inner pid. */
export async function observeProcesses(init: ProcessIdentity): Promise<RecordInput<"processes.json">> {
  const observedMs = monotonicMs();
  const seen = await listPidNamespace(init.pid);
  const processes = seen.map(
    ({ innerPid, name, cmdline, uid }): ProcessEntry => ({
      pid: innerPid,
      name,
      cmdline: [...cmdline],
      uid,
    }),
  );
  return { observedMs, processes: processes.sort((a, b) => a.pid - b.pid) };
}

/** Whether a process still lives, as a fact: its start time as seen now, null where there is no such process. */
export async function sight({ pid, startTime }: ProcessIdentity) {
  const seen = await readStartTime(pid).catch(() => null);
  return { pid, startTime, seenStartTime: seen === null ? null : String(seen) };
}

async function userProgram(live: LiveSession, argv: string[]): Promise<RecordInput<"token.json">> {
  const { uid, gid, home: cwd } = USER;
  const done = await live.withInit((init) => init.run({ argv, env: ENVIRONMENT, uid, gid, cwd }));
  return { argv, exitCode: done.code ?? null, value: done.stdout.toString() };
}

/** The identity of a live session's init. */
export function initOf({ record }: LiveSession): ProcessIdentity {
  if (record.init !== undefined) return record.init;
  throw new DrumsError({ code: "SESSION_DEAD", what: `session ${record.id} has no init` });
}
