import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { type Frame, readXwd } from "../../src/index.js";

/** An X server of a test's own, with its frame file and home in a temporary folder. */
export interface Xvfb {
  readonly folder: string;
  readonly process: ChildProcess;
  /** Path of the server's socket. */
  readonly socket: string;
  /** A new connected socket to the server. */
  connect(): Promise<net.Socket>;
  frame(): Promise<Frame>;
  /** Starts a program on this display; it is ended with the server. */
  start(program: string, ...args: string[]): ChildProcess;
  stop(): Promise<void>;
}

export async function startXvfb(...more: string[]): Promise<Xvfb> {
  const folder = await mkdtemp(join(tmpdir(), "drums-readiness-"));
  const screen = ["-screen", "0", "1280x800x24", "-fbdir", folder];
  const server = spawn(
    "Xvfb",
    ["-displayfd", "3", ...screen, "-nolisten", "tcp", "-ac", "-noreset", ...more],
    {
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    },
  );
  const display = await displayNumber(server);
  const socket = `/tmp/.X11-unix/X${display}`;
  const children = [server];
  return {
    folder,
    process: server,
    socket,
    async connect() {
      const connection = net.connect(socket);
      await once(connection, "connect");
      return connection;
    },
    frame: () => readXwd(join(folder, "Xvfb_screen0")),
    start(program, ...args) {
      const env = { PATH: process.env.PATH, DISPLAY: `:${display}`, HOME: folder };
      const child = spawn(program, args, { env, cwd: folder, stdio: "ignore" });
      children.unshift(child);
      return child;
    },
    async stop() {
      for (const child of children) await end(child);
      // A killed server leaves these behind.
      await Promise.all(
        [folder, socket, `/tmp/.X${display}-lock`].map((path) => rm(path, { recursive: true, force: true })),
      );
    },
  };
}

export async function end(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

async function displayNumber(server: ChildProcess): Promise<string> {
  const pipe = server.stdio[3] as Readable;
  const said = await Promise.race([
    once(pipe, "data"),
    once(server, "exit").then(() => {
      throw new Error("Xvfb ended before it named its display");
    }),
  ]);
  return String(said[0]).trim();
}
