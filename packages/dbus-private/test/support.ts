import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectSocket, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { busCommand, flattenHostConfig, unixAddress, waitForBus, writeConfig } from "../src/index.js";

/** The host's own system configuration, which the dbus package installs. */
export const STOCK = "/usr/share/dbus-1/system.conf";

/** Runs `body` with a temporary folder that is gone afterwards. */
export async function withFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "drums-dbus-"));
  try {
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Connects to a socket of this machine. */
export async function connectPath(path: string): Promise<Socket> {
  const socket = connectSocket(path);
  await once(socket, "connect");
  return socket;
}

/** A running bus of our own. */
export interface TestBus {
  readonly socket: string;
  readonly connect: () => Promise<Socket>;
  readonly daemon: ChildProcess;
}

/** Runs `body` with a dbus-daemon on `config`, or on the stock configuration flattened. */
export async function withBus<T>(
  body: (bus: TestBus) => Promise<T>,
  options: { readonly config?: (address: string) => string } = {},
): Promise<T> {
  return withFolder(async (folder) => {
    const socket = join(folder, "bus");
    const address = unixAddress(socket);
    const text = options.config?.(address) ?? writeConfig(await flattenHostConfig(STOCK), { address });
    const configPath = join(folder, "bus.conf");
    writeFileSync(configPath, text);
    const daemon = await startDaemon(configPath);
    try {
      const connect = () => connectPath(socket);
      await waitForBus(connect);
      return await body({ socket, connect, daemon });
    } finally {
      if (daemon.exitCode === null && daemon.signalCode === null) {
        const over = once(daemon, "exit");
        daemon.kill("SIGKILL");
        await over;
      }
    }
  });
}

/** Starts a dbus-daemon; the caller ends it. */
export async function startDaemon(configPath: string, more: readonly string[] = []): Promise<ChildProcess> {
  const [file = "", ...args] = busCommand({ configPath });
  const daemon = spawn(file, [...args, ...more], { stdio: ["ignore", "pipe", "pipe"] });
  await once(daemon, "spawn");
  daemon.stderr?.resume();
  return daemon;
}
