import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { NsexecError } from "../errors.js";
import { SeqpacketChannel } from "../seqpacket.js";
import type { SessionConnectOptions, SessionRoot } from "../session-files.js";
import { type ExitStatus, signalNumber } from "../syscalls/pidfd.js";
import {
  broken,
  type ChildState,
  encodeRequest,
  type PtySize,
  parseAnswer,
  parseChildren,
  parseStatus,
  type SpawnOptions,
  spawnFields,
} from "./messages.js";

const FOLDER = "/run/drums";
const RETRY_MS = 20;
const SOCKET = `${FOLDER}/init.sock`;

/** Options of {@link connectInit}. */
export interface ConnectInitOptions {
  /** The host uids that may answer, for a session with shifted ids. Default: any. */
  readonly peerUids?: NonNullable<SessionConnectOptions["peerUids"]>;
  /** For every request but a wait. Default 10 000. */
  readonly timeoutMs?: number;
}

/** Options of {@link InitClient.run} beside those of a spawn. */
export interface RunOptions extends Omit<SpawnOptions, "stdout" | "stderr" | "pty"> {
  /** The program and its process group are killed after this. Default 60 000. */
  readonly timeoutMs?: number;
  /** The most that is kept of each output. Default 1 MiB. */
  readonly maxBytes?: number;
}

/** How a captured program ended and what it said. */
export interface RunResult extends ExitStatus {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/**
 * Connects to the init of a session. Close it before a dump: a connection from outside cannot be dumped.
 * @throws SyscallError ENOENT, ECONNREFUSED; NsexecError code WRONG_PEER, WRONG_KIND, TIMEOUT
 */
export async function connectInit(root: SessionRoot, options: ConnectInitOptions = {}): Promise<InitClient> {
  const { timeoutMs = 10_000 } = options;
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const fd = await tryConnect(root, options);
    if (fd !== undefined) return new InitClient(root, new SeqpacketChannel(fd), timeoutMs);
    if (Date.now() > deadline) throw timedOut("connect", timeoutMs);
    await sleep(RETRY_MS);
  }
}

/** Undefined while init has more callers than places. */
async function tryConnect(root: SessionRoot, { peerUids }: ConnectInitOptions): Promise<number | undefined> {
  try {
    return await root.connect(SOCKET, { type: "seqpacket", ...(peerUids ? { peerUids } : {}) });
  } catch (error) {
    if (error instanceof NsexecError && error.code === "EAGAIN") return undefined;
    throw error;
  }
}

interface Pending {
  resolve(fields: readonly string[]): void;
  reject(error: unknown): void;
}

/** A connection to a session's init. What it starts descends from PID 1 and is part of a checkpoint. */
export class InitClient {
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #receiving = false;
  #closed = false;

  /** Use {@link connectInit}. The root stays the caller's. */
  constructor(
    private readonly root: SessionRoot,
    private readonly channel: SeqpacketChannel,
    private readonly timeoutMs: number,
  ) {}

  /** Resolves when init has answered. */
  async ping(): Promise<void> {
    await this.#request("ping", []);
  }

  /**
   * Starts a program; resolves once it has been executed.
   * @throws NsexecError code INIT_REFUSED, step stdio, pty, ids, cwd or exec
   */
  async spawn(options: SpawnOptions): Promise<{ pid: number }> {
    const [pid] = await this.#request("spawn", spawnFields(options));
    return { pid: toPid(pid) };
  }

  /** How a started program ended. @throws NsexecError code TIMEOUT; INIT_REFUSED for one unknown to init */
  async wait(pid: number, options: { readonly timeoutMs?: number } = {}): Promise<ExitStatus> {
    return parseStatus(await this.#request("wait", [pid], options.timeoutMs ?? 0));
  }

  /** Sends a signal to a process of the session, or to a process group as a negative number. */
  async signal(pid: number, signal: NodeJS.Signals | number): Promise<void> {
    await this.#request("signal", [pid, signalNumber(signal)]);
  }

  /** The programs that init started and still remembers. */
  async list(): Promise<ChildState[]> {
    return parseChildren(await this.#request("list", []));
  }

  /**
   * Puts a file in place as a whole: who reads it meets the old text or the new one.
   * @param path  absolute, in the session; its folder must be there
   * @param options.mode  default 0o644
   * @throws NsexecError code INIT_REFUSED, step put; step protocol by an init that is too old for it
   */
  async put(path: string, text: string, { mode = 0o644 }: { readonly mode?: number } = {}): Promise<void> {
    await this.#request("put", [path, mode, text]);
  }

  /**
   * Writes text over the beginning of a file, or makes the file, by one write that never shortens it: who has it open
   * or mapped sees the change. @throws NsexecError as {@link put} does
   */
  async overwrite(path: string, text: string): Promise<void> {
    await this.#request("overwrite", [path, text]);
  }

  /** Types text into a program's pty and says how many bytes its buffer took. */
  async writePty(pid: number, text: string): Promise<number> {
    const [wrote] = await this.#request("pty-write", [pid, text]);
    return Number(wrote);
  }

  /** Resizes a program's pty; the program gets SIGWINCH. */
  async resizePty(pid: number, size: PtySize): Promise<void> {
    await this.#request("pty-resize", [pid, size.rows, size.cols]);
  }

  /**
   * Runs a program to its end and gives back what it wrote, captured in files of the session's /run.
   * @throws NsexecError code TIMEOUT after it was killed; INIT_REFUSED
   */
  async run(options: RunOptions): Promise<RunResult> {
    const { timeoutMs = 60_000, maxBytes = 1 << 20, ...program } = options;
    const name = `run-${randomUUID()}`;
    const paths = [`${name}.out`, `${name}.err`] as const;
    try {
      const [stdout, stderr] = paths.map((file) => `${FOLDER}/${file}`) as [string, string];
      const { pid } = await this.spawn({ ...program, stdout, stderr });
      const status = await this.#waitOrKill(pid, timeoutMs);
      const read = (path: string) => this.root.readFile(path, { maxBytes, larger: "head" });
      return { ...status, stdout: await read(stdout), stderr: await read(stderr) };
    } finally {
      await this.#removeAll(paths);
    }
  }

  /** Ends the connection; whoever still waits gets CHANNEL_CLOSED. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    this.channel.close();
  }

  async #waitOrKill(pid: number, timeoutMs: number): Promise<ExitStatus> {
    try {
      return await this.wait(pid, { timeoutMs });
    } catch (error) {
      // The program leads a process group of its own, so its helpers go with it.
      if (error instanceof NsexecError && error.code === "TIMEOUT") await this.signal(-pid, "SIGKILL");
      throw error;
    }
  }

  /** A program that could not start left none; a lost connection can remove none, and /run goes with the session. */
  async #removeAll(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (this.#closed) return;
      await this.#request("remove", [name]).catch(ignoreAbsent);
    }
  }

  async #request(
    verb: string,
    fields: ReadonlyArray<string | number>,
    timeoutMs: number = this.timeoutMs,
  ): Promise<readonly string[]> {
    const id = this.#nextId++;
    const answer = new Promise<readonly string[]>((resolve, reject) =>
      this.#pending.set(id, { resolve, reject }),
    );
    const timer =
      timeoutMs > 0 ? setTimeout(() => this.#settle(id, timedOut(verb, timeoutMs)), timeoutMs) : undefined;
    try {
      this.channel.send(encodeRequest(id, verb, fields));
      void this.#receive();
      return await answer;
    } catch (error) {
      this.#pending.delete(id);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #settle(id: number, outcome: NsexecError | readonly string[]): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (outcome instanceof NsexecError) pending?.reject(outcome);
    else pending?.resolve(outcome);
  }

  /** Receives only while somebody waits, so that an idle client does not keep the process alive. */
  async #receive(): Promise<void> {
    if (this.#receiving) return;
    this.#receiving = true;
    try {
      while (this.#pending.size > 0) await this.#receiveOne();
    } catch (error) {
      const failed = [...this.#pending.values()];
      this.#pending.clear();
      for (const pending of failed) pending.reject(error);
    } finally {
      this.#receiving = false;
    }
  }

  async #receiveOne(): Promise<void> {
    const packet = await this.channel.receive();
    if (packet === undefined) throw sessionGone();
    const { id, fields, error } = parseAnswer(packet.data);
    this.#settle(id, error ?? fields);
  }
}

function toPid(field: string | undefined): number {
  const pid = Number(field);
  if (!Number.isInteger(pid) || pid < 2) throw broken(`a pid of ${field}`);
  return pid;
}

function ignoreAbsent(error: unknown): void {
  if (error instanceof NsexecError && ["INIT_REFUSED", "SESSION_GONE"].includes(error.code)) return;
  throw error;
}

function timedOut(verb: string, timeoutMs: number): NsexecError {
  return new NsexecError("TIMEOUT", `the session's init did not answer ${verb} within ${timeoutMs} ms`, {
    hint: verb === "wait" ? "The program still runs." : "The session may be stopped or overloaded.",
  });
}

function sessionGone(): NsexecError {
  return new NsexecError("SESSION_GONE", "the session's init closed the connection", {
    hint: "The session has ended, or the request broke init's rules.",
  });
}
