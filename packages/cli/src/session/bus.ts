import {
  type BusIdentity,
  type BusReport,
  busCommand,
  busIdentity,
  flattenConfig,
  unixAddress,
  verifyBus,
  waitForBus,
  writeConfig,
} from "@drums/dbus-private";
import { codeOf, DrumsError, EXIT } from "../errors.js";
import { logPath, makeFolder, writeInside } from "./boot/inside.js";
import type { LiveSession } from "./open.js";
import { INSIDE } from "./paths.js";

/** A session's system bus: what it answers, and which socket it listens on. */
export interface SessionBus {
  readonly report: BusReport;
  readonly socket: BusIdentity;
}

/** A distribution's own configuration first; an administrator's below /etc is included from there. */
const CONFIGS = ["/usr/share/dbus-1/system.conf", "/etc/dbus-1/system.conf"];

/**
 * Starts the session's private system bus from the image's own configuration, flattened, with everything left out
 * that would activate a service, and verifies it.
 * @throws DrumsError BUS_REFUSED where a check fails, NO_BUS_CONFIG; DbusError
 */
export async function startBus(live: LiveSession): Promise<SessionBus> {
  const text = writeConfig(await readConfig(live), { address: unixAddress(INSIDE.bus) });
  await live.withInit(async (init) => {
    await writeInside(init, INSIDE.busConfig, text);
    await makeFolder(init, { path: INSIDE.logs, mode: 0o755, uid: 0, gid: 0 });
    await makeFolder(init, { path: "/run/dbus", mode: 0o755, uid: 0, gid: 0 });
    await init.spawn({
      argv: busCommand({ configPath: INSIDE.busConfig }),
      env: { PATH: "/usr/bin:/bin" },
      uid: 0,
      gid: 0,
      stdout: logPath("system-bus"),
      stderr: logPath("system-bus"),
    });
  });
  await waitForBus(() => connect(live), { uid: 0 });
  const bus = await inspectBus(live);
  if (bus.report.ok) return bus;
  throw new DrumsError({
    code: "BUS_REFUSED",
    exitCode: EXIT.verdictFailed,
    what: `the system bus of session ${live.record.id} is not a private one that activates nothing`,
    why: bus.report.checks.flatMap(({ ok, name, detail }) => (ok ? [] : [`${name}: ${detail}`])).join("; "),
    hint: "compare the configuration in /run/drums/system-bus.conf of the session with the image's own",
  });
}

/** Asks the session's bus what it is. Its socket is told apart by device and inode: each sibling has its own /run. */
export async function inspectBus(live: LiveSession): Promise<SessionBus> {
  const report = await verifyBus({ connect: () => connect(live), uid: 0 });
  return { report, socket: busIdentity(await live.root.stat(INSIDE.bus)) };
}

/** As the session's own root: the kernel tells the bus who connects, and only ids of its namespace mean anything there. */
function connect(live: LiveSession) {
  const { idBase } = live.record.spec;
  return live.connectBus(idBase === undefined ? {} : { uid: idBase, gid: idBase });
}

async function readConfig(live: LiveSession) {
  for (const path of CONFIGS)
    if ((await orMissing(live.root.stat(path))) !== undefined)
      return flattenConfig({
        path,
        readFile: async (file) => (await orMissing(live.root.readFile(file)))?.toString(),
        listDir: (folder) => orMissing(live.root.list(folder)),
      });
  throw new DrumsError({
    code: "NO_BUS_CONFIG",
    exitCode: EXIT.verdictFailed,
    what: "the image has no configuration of a D-Bus system bus",
    where: CONFIGS.join(", "),
    why: "the dbus package is not installed in it; a GNOME desktop dies without a system bus",
    hint: "install dbus in the image",
  });
}

async function orMissing<T>(value: Promise<T>): Promise<T | undefined> {
  try {
    return await value;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
