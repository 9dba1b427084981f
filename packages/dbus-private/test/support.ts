import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectSocket, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import native from "@homebridge/dbus-native/lib/message.js";
import { busCommand, flattenHostConfig, unixAddress, waitForBus, writeConfig } from "../src/index.js";
import { decodeMessage, HEADER_BYTES, messageLength } from "../src/wire/message.js";

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

/** A peer on a bus that owns a name: it answers every call with an error, or with nothing at all. */
export interface Owner {
  leave(): void;
}

/** Owns `name` with a second implementation of the protocol, as a service would. */
export async function ownName(
  bus: TestBus,
  name: string,
  options: { readonly answers: boolean },
): Promise<Owner> {
  const socket = await bus.connect();
  let buffered: Buffer = Buffer.alloc(0);
  let isReady = false;
  const ready = new Promise<void>((resolve) => {
    socket.on("data", (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk]);
      if (!isReady && buffered.includes("OK ")) {
        isReady = true;
        buffered = Buffer.alloc(0);
        socket.write("BEGIN\r\n");
        const call = { type: 1, path: "/org/freedesktop/DBus", interface: BUS, destination: BUS };
        socket.write(native.marshall({ ...call, serial: 1, member: "Hello" }));
        const request = { ...call, serial: 2, member: "RequestName", signature: "su", body: [name, 0] };
        socket.write(native.marshall(request));
      }
      while (isReady && buffered.length >= HEADER_BYTES && buffered.length >= messageLength(buffered)) {
        const length = messageLength(buffered);
        const message = decodeMessage(buffered.subarray(0, length));
        buffered = buffered.subarray(length);
        if (message.replySerial === 2) resolve();
        if (message.type === 1 && options.answers) socket.write(refusal(message));
      }
    });
  });
  const uid = Buffer.from(String(process.getuid?.() ?? 0)).toString("hex");
  socket.write(`\0AUTH EXTERNAL ${uid}\r\n`);
  await ready;
  return { leave: () => socket.destroy() };
}

const BUS = "org.freedesktop.DBus";

function refusal({ serial, sender }: { readonly serial: number; readonly sender?: string }): Buffer {
  const errorName = "org.freedesktop.DBus.Error.UnknownMethod";
  return native.marshall({
    type: 3,
    serial: 7,
    replySerial: serial,
    errorName,
    ...(sender !== undefined && { destination: sender }),
  });
}

/** A configuration with which anyone may do anything. */
export function openConfig(address: string): string {
  return `<busconfig><listen>${address}</listen><auth>EXTERNAL</auth><policy context="default"><allow user="*"/>
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`;
}
