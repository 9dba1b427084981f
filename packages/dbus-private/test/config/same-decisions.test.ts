import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import {
  type BusConnection,
  busCall,
  flattenHostConfig,
  openBus,
  unixAddress,
  verifyBus,
  waitForBus,
  withBus,
  writeConfig,
} from "../../src/index.js";
import { connectPath, ownName, startDaemon, withFolder } from "../support.js";

// A daemon on a distribution's own kind of configuration, with its includes, and one on ours made of it, are asked
// the same questions by users for whom different policies hold. What the first loaded shows in what it decides.

const STOCK_LAYOUT = fileURLToPath(new URL("../fixtures/stock", import.meta.url));
const NOBODY = 65534;
const USERS = [0, NOBODY] as const;

const NAMES = [
  "org.example.Root",
  "org.example.Accounts",
  "org.example.FromAWrongFile",
  "org.example.Group",
  "org.example.Many",
  "org.example.Many.One",
  "org.example.Many.Secret",
  "org.example.Nobody",
  "org.example.NeverOwned",
  "org.example.Shut",
  "org.example.Unheard",
];

/** Destination, path, and interface with member. */
const CALLS: readonly (readonly [destination: string, path: string, member: string])[] = [
  ["org.example.Accounts", "/", "org.example.Accounts.ListUsers"],
  ["org.example.Accounts", "/", "org.example.Accounts.DeleteUser"],
  ["org.example.Accounts", "/", "org.freedesktop.DBus.Properties.GetAll"],
  ["org.example.Accounts", "/", "org.freedesktop.DBus.Introspectable.Introspect"],
  ["org.example.Root", "/", "org.example.Root.Do"],
  ["org.example.Root", "/open", "org.example.Root.Do"],
  ["org.example.Shut", "/", "org.example.Shut.Do"],
  ["org.freedesktop.DBus", "/", "org.freedesktop.DBus.GetId"],
  ["org.freedesktop.DBus", "/", "org.freedesktop.DBus.UpdateActivationEnvironment"],
  ["org.freedesktop.DBus", "/", "org.freedesktop.DBus.Introspectable.Introspect"],
  ["org.freedesktop.DBus", "/", "org.freedesktop.DBus.Debug.Stats.GetStats"],
];

testNeeding(
  ["root", "program:dbus-daemon", "program:dbus-send"],
  "our configuration decides every question as a stock daemon's own does, but activates nothing",
  async () => {
    await withFolder(async (folder) => {
      cpSync(STOCK_LAYOUT, folder, { recursive: true });
      for (const file of filesOf(folder))
        writeFileSync(file, readFileSync(file, "utf8").replaceAll("@FOLDER@", folder));
      const flat = await flattenHostConfig(join(folder, "system.conf"));
      const socket = join(folder, "private");
      writeFileSync(join(folder, "private.conf"), writeConfig(flat, { address: unixAddress(socket) }));
      chmodSync(folder, 0o755);

      const stock = await decisions(join(folder, "system.conf"), join(folder, "stock"));
      const ours = await decisions(join(folder, "private.conf"), socket);
      expect(ours.answers).toEqual(stock.answers);
      expect(ours.limits).toEqual(stock.limits);
      expect(new Set(Object.values(stock.answers)).size).toBeGreaterThan(2); // some allowed, some denied
      // The last word on a limit holds: that of the main file, which stands after its includes.
      expect(stock.limits.matches).toBe(3);
      expect(stock.limits.connections).toBeLessThan(MORE_THAN_ANY_LIMIT);
      expect(stock.activatable).toContain("org.example.Activatable");
      expect(ours.activatable).toEqual(["org.freedesktop.DBus"]);
      expect(flat.skipped.map(({ file }) => file)).toEqual([join(folder, "system.d/20-wrong.conf")]);
    });
  },
);

interface Decisions {
  readonly answers: Readonly<Record<string, string>>;
  readonly limits: { readonly matches: number; readonly connections: number };
  readonly activatable: readonly string[];
}

async function decisions(configPath: string, socket: string): Promise<Decisions> {
  const daemon = await startDaemon(configPath);
  try {
    const connect = () => connectPath(socket);
    await waitForBus(connect);
    const bus = { socket, connect, daemon };
    const { activatable } = await verifyBus({ connect });
    const answers: Record<string, string> = {};
    for (const uid of USERS)
      for (const name of NAMES)
        answers[`${uid} owns ${name}`] = await ask(socket, uid, [
          "--dest=org.freedesktop.DBus",
          "/org/freedesktop/DBus",
          "org.freedesktop.DBus.RequestName",
          `string:${name}`,
          "uint32:0",
        ]);
    const owners = ["org.example.Accounts", "org.example.Root", "org.example.Shut"];
    for (const name of owners) await ownName(bus, name, { answers: true });
    for (const uid of USERS)
      for (const [destination, path, member] of CALLS)
        answers[`${uid} calls ${destination} ${path} ${member}`] = await ask(socket, uid, [
          `--dest=${destination}`,
          path,
          member,
        ]);
    return { answers, limits: await limitsOf(connect), activatable };
  } finally {
    daemon.kill("SIGKILL");
    await once(daemon, "exit");
  }
}

/** The error's name, or that there was a reply: what it holds differs from bus to bus. */
function ask(socket: string, uid: number, args: readonly string[]): Promise<string> {
  const env = { DBUS_SYSTEM_BUS_ADDRESS: unixAddress(socket), PATH: process.env.PATH };
  return new Promise((resolve) => {
    execFile(
      "dbus-send",
      ["--system", "--print-reply", "--reply-timeout=5000", ...args],
      { env, uid, gid: uid },
      (_, stdout, stderr) =>
        resolve(/^Error (\S+):/.exec(stderr)?.[1] ?? (stdout === "" ? stderr : "answered")),
    );
  });
}

/** How many match rules a connection and how many connections a user may have, found by asking for more. */
async function limitsOf(connect: () => ReturnType<typeof connectPath>) {
  const matches = await withBus(connect, (bus) =>
    countWhile((index) => bus.call(busCall("AddMatch", `type='signal',member='M${index}'`))),
  );
  const open: BusConnection[] = [];
  const connections = await countWhile(async () => open.push(await openBus(connect)));
  for (const bus of open) bus.close();
  return { matches, connections };
}

async function countWhile(ask: (index: number) => Promise<unknown>): Promise<number> {
  for (let count = 0; count < MORE_THAN_ANY_LIMIT; count++)
    try {
      await ask(count);
    } catch {
      return count;
    }
  return MORE_THAN_ANY_LIMIT;
}

const MORE_THAN_ANY_LIMIT = 40;

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}
