import { errnoName, NsexecError } from "../errors.js";
import type { ExitStatus } from "../syscalls/pidfd.js";
import { signalName } from "../syscalls/pidfd.js";

/** Size of a pty in characters. */
export interface PtySize {
  readonly rows: number;
  readonly cols: number;
}

/** A program to be started as a child of the session's init. */
export interface SpawnOptions {
  /** The program first; looked up in PATH of `env` where it holds no slash. */
  readonly argv: readonly string[];
  /** The whole environment. Default: empty. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ids as the session counts them. Default 0. */
  readonly uid?: number;
  /** Default: the uid. */
  readonly gid?: number;
  readonly groups?: readonly number[];
  /** Default "/". */
  readonly cwd?: string;
  /** A file in the session, without any link on the way, or "null", the default. */
  readonly stdin?: string;
  /** A file in the session that is appended to, made 0644 where absent. Default "null". */
  readonly stdout?: string;
  readonly stderr?: string;
  /** A new terminal in place of the files; its output goes to `stdout`. */
  readonly pty?: PtySize;
}

/** A child of the session's init, by its pid in the session. */
export interface ChildState extends ExitStatus {
  readonly pid: number;
  readonly running: boolean;
}

/** One packet of init's socket may hold this much (native/init/protocol.h). */
const MAX_BYTES = 128 * 1024;
const MAX_FIELDS = 4096;

/** A request as init reads it. @throws NsexecError code REQUEST_INVALID */
export function encodeRequest(id: number, verb: string, fields: ReadonlyArray<string | number>): Buffer {
  const all = [id, verb, ...fields].map(String);
  const odd = all.find((field) => field.includes("\0"));
  if (odd !== undefined) throw invalid("a field holds a NUL byte");
  const packet = Buffer.from(all.map((field) => `${field}\0`).join(""));
  if (packet.length > MAX_BYTES || all.length > MAX_FIELDS)
    throw invalid(`${packet.length} bytes in ${all.length} fields, more than ${MAX_BYTES} in ${MAX_FIELDS}`);
  return packet;
}

/** The fields of a spawn, in the order of native/init/requests.c. */
export function spawnFields(options: SpawnOptions): Array<string | number> {
  const { argv, env = {}, uid = 0, gid = uid, groups = [], cwd = "/", pty } = options;
  if (argv.length === 0) throw invalid("argv is empty");
  const pairs = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  return [
    uid,
    gid,
    cwd,
    ...[options.stdin, options.stdout, options.stderr].map(stdioField),
    pty ? 1 : 0,
    pty?.rows ?? 0,
    pty?.cols ?? 0,
    groups.length,
    ...groups,
    argv.length,
    ...argv,
    pairs.length,
    ...pairs,
  ];
}

function stdioField(path = "null"): string {
  if (path === "null") return "";
  if (path.startsWith("/")) return path;
  throw invalid(`stdio ${path} is neither "null" nor an absolute path`);
}

/** The id of an answer and its fields, or the error that it stands for. */
export interface Answer {
  readonly id: number;
  readonly fields: readonly string[];
  readonly error?: NsexecError;
}

/** Reads an answer of init. What a session sends is not trusted: anything odd is code INIT_BROKEN. */
export function parseAnswer(data: Buffer): Answer {
  const [id = "", kind, ...fields] = data.toString("utf8").replace(/\0$/, "").split("\0");
  if (!/^\d{1,15}$/.test(id) || (kind !== "ok" && kind !== "err"))
    throw broken("an answer without id or kind");
  if (kind === "ok") return { id: Number(id), fields };
  const [step = "?", errno = "0"] = fields;
  return { id: Number(id), fields, error: refused(step, Number(errno)) };
}

/** Reads `exit CODE` or `signal NUMBER`. */
export function parseStatus([kind, number]: readonly (string | undefined)[]): ExitStatus {
  const value = Number(number);
  if (!Number.isInteger(value)) throw broken("a status without a number");
  if (kind === "exit") return { code: value };
  if (kind === "signal") return { signal: signalName(value) };
  throw broken(`a status of kind ${kind}`);
}

/** Reads the triples of a list. */
export function parseChildren(fields: readonly string[]): ChildState[] {
  const children: ChildState[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [pid, kind, number] = fields.slice(at, at + 3);
    const state = kind === "running" ? { running: true } : { running: false, ...parseStatus([kind, number]) };
    children.push({ pid: Number(pid), ...state });
  }
  return children;
}

export function broken(what: string): NsexecError {
  return new NsexecError("INIT_BROKEN", `the session's init sent ${what}`, {
    hint: "Something else answers on /run/drums/init.sock: take the session for compromised.",
  });
}

function refused(step: string, errno: number): NsexecError {
  const name = errnoName(errno);
  const hint = HINTS[`${step} ${name}`];
  return new NsexecError("INIT_REFUSED", `the session's init could not do ${step}: ${name}`, {
    step,
    errno: -errno,
    ...(hint === undefined ? {} : { hint }),
  });
}

const HINTS: Readonly<Record<string, string>> = {
  "exec ENOENT": "The program is not in the session's PATH, or the interpreter it names is missing.",
  "stdio ENOENT": "The folder of a stdio file does not exist in the session.",
  "stdio ELOOP": "A stdio file's path leads through a link in the session; give the path it leads to.",
  "stdio ENOSPC": "The session's disk is full.",
  "wait ECHILD": "The pid is no child of init, or finished so long ago that init has forgotten it.",
  "spawn EAGAIN": "The session may have no more processes.",
};

function invalid(what: string): NsexecError {
  return new NsexecError("REQUEST_INVALID", `the request cannot be sent: ${what}`);
}
