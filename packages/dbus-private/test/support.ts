import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectSocket, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import native from "@homebridge/dbus-native/lib/message.js";
import { busCommand, flattenHostConfig, unixAddress, waitForBus, writeConfig } from "../src/index.js";
import { decodeMessage, HEADER_BYTES, type Message, messageLength } from "../src/wire/message.js";
import { ByteReader } from "../src/wire/reader.js";
import { authenticate } from "../src/wire/sasl.js";

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

/** A client of a bus by a second implementation of the protocol, which sends what ours does not. */
export interface RawPeer {
  send(message: Parameters<typeof native.marshall>[0] | Buffer): void;
  close(): void;
}

const BUS = "org.freedesktop.DBus";
const BUS_OBJECT = { type: 1, path: "/org/freedesktop/DBus", interface: BUS, destination: BUS };

/** Connects and says Hello; `onMessage` hears of every message after that. */
export async function rawPeer(
  bus: TestBus,
  onMessage: (message: Message, bytes: Buffer) => void,
): Promise<RawPeer> {
  const socket = await bus.connect();
  const reader = new ByteReader(socket);
  await authenticate(reader);
  const send: RawPeer["send"] = (message) =>
    socket.write(Buffer.isBuffer(message) ? message : native.marshall(message));
  let resolve = () => {};
  let reject = (_: unknown) => {};
  const greeted = new Promise<void>((...both) => {
    [resolve, reject] = both;
  });
  const receive = async () => {
    for (;;) {
      const head = await reader.take(HEADER_BYTES);
      const bytes = Buffer.concat([head, await reader.take(messageLength(head) - HEADER_BYTES)]);
      const message = decodeMessage(bytes);
      if (message.replySerial === 1) resolve();
      else onMessage(message, bytes);
    }
  };
  receive().catch(reject); // the peer left
  send({ ...BUS_OBJECT, serial: 1, member: "Hello" });
  await greeted;
  return { send, close: () => socket.destroy() };
}

/** Owns `name` as a service would: answers every call with an error, or with nothing at all. */
export async function ownName(
  bus: TestBus,
  name: string,
  options: { readonly answers: boolean },
): Promise<{ leave(): void }> {
  let owned = () => {};
  const isOwned = new Promise<void>((resolve) => {
    owned = resolve;
  });
  const peer = await rawPeer(bus, ({ type, replySerial, serial, sender }) => {
    if (replySerial === 2) owned();
    const errorName = "org.freedesktop.DBus.Error.UnknownMethod";
    const refusal = { type: 3, serial: 7, replySerial: serial, errorName };
    if (type === 1 && options.answers)
      peer.send({ ...refusal, ...(sender !== undefined && { destination: sender }) });
  });
  const body = [name, 0];
  peer.send({ ...BUS_OBJECT, serial: 2, member: "RequestName", signature: "su", body });
  await isOwned;
  return { leave: () => peer.close() };
}

/** A configuration with which anyone may do anything. */
export function openConfig(address: string): string {
  return `<busconfig><listen>${address}</listen><auth>EXTERNAL</auth><policy context="default"><allow user="*"/>
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`;
}
