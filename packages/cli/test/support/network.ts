import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { CLIENT, ECHO_SERVER } from "../../../../tools/testing/perl.js";
import type { LiveSession } from "../../src/session/open.js";

/** How programs of these tests run inside: as the session's user. */
export const AS_USER = { env: { PATH: "/usr/bin:/bin" }, uid: 1000, gid: 1000 };
/** What a server of {@link startServer} prints. */
export const SERVER_LOG = "/tmp/server.log";

/** Starts an echo server in the session; resolves once it listens. */
export async function startServer(live: LiveSession, port: number): Promise<void> {
  await live.withInit((init) =>
    init.spawn({
      ...AS_USER,
      argv: ["perl", "-e", ECHO_SERVER, String(port)],
      stdout: SERVER_LOG,
      stderr: SERVER_LOG,
    }),
  );
  while ((await textOf(live, SERVER_LOG)) !== "listening\n") await sleep(5);
}

/** A file of the session, undefined where there is none. */
export async function textOf(live: LiveSession, path: string): Promise<string | undefined> {
  return live.root.readFile(path).then(String, () => undefined);
}

/** What a client in the session hears at an address. */
export async function hear(live: LiveSession, address: string, port: number): Promise<string> {
  const argv = ["perl", "-e", CLIENT, address, String(port)];
  const { stdout } = await live.withInit((init) => init.run({ ...AS_USER, argv }));
  return stdout.toString().trim();
}

/** Sends a line and gives the answer. */
export async function say(socket: Socket, line: string): Promise<string> {
  const answer = once(socket, "data");
  socket.write(`${line}\n`);
  return String((await answer)[0]);
}

/** The same over a connection of its own to a port of the host. */
export async function sayOnce(port: number, line: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  try {
    return await say(socket, line);
  } finally {
    socket.destroy();
  }
}

/** The host's port of the first published one. */
export function portOf(live: LiveSession): number {
  const [published] = live.record.network?.ports ?? [];
  if (published === undefined) throw new Error("no port is published");
  return published.hostPort;
}
