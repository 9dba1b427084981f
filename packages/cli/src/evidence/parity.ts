import type { AttemptRecords } from "./load.js";
import { RecordAbsent } from "./load.js";
import type { ParityGap } from "./records/claims.js";

type Row = Omit<ParityGap, "topic">;

/** X servers, display managers and lockers by the names of their processes. */
const X_SERVERS = ["Xvfb", "Xorg", "Xtigervnc", "Xwayland"];
const DISPLAY_MANAGERS = ["gdm3", "gdm", "lightdm", "sddm", "xdm", "lxdm", "slim", "greetd"];
/** A wall clock that differs by more than this many seconds is another clock. */
const MAX_CLOCK_OFFSET = 2;

const TOPICS: Readonly<Record<string, (records: AttemptRecords) => Row>> = {
  "X server": xServer,
  "display manager": displayManager,
  kernel,
  "system bus": systemBus,
  clock,
  "lock screen": lockScreen,
  "first process": firstProcess,
  "security modules": securityModules,
};

/**
 * What differs between the session and the image's own machine, from recorded facts. A topic whose facts are
 * not there is "unknown", never left out.
 */
export function computeParity(records: AttemptRecords): ParityGap[] {
  return Object.entries(TOPICS).map(([topic, row]) => ({ topic, ...rowOrUnknown(() => row(records)) }));
}

function rowOrUnknown(row: () => Row): Row {
  try {
    return row();
  } catch (error) {
    if (!(error instanceof RecordAbsent)) throw error;
    return { status: "unknown", image: error.message, session: error.message };
  }
}

function xServer(records: AttemptRecords): Row {
  const { imageXServers } = records.get("parity.json");
  const running = runningOf(records, X_SERVERS);
  const same = running.some((name) => imageXServers.some((path) => path.endsWith(`/${name}`)));
  return row(running.length > 0 && same, list(imageXServers), list(running));
}

function displayManager(records: AttemptRecords): Row {
  const { imageDisplayManager } = records.get("parity.json");
  const running = runningOf(records, DISPLAY_MANAGERS);
  const same = imageDisplayManager === null ? running.length === 0 : running.length > 0;
  return row(same, imageDisplayManager ?? "none", list(running));
}

function kernel(records: AttemptRecords): Row {
  const { imageKernels } = records.get("parity.json");
  const { release } = records.get("host.json").kernel;
  return row(imageKernels.includes(release), list(imageKernels), `${release}, the host's`);
}

function systemBus(records: AttemptRecords): Row {
  const { imageBusServices } = records.get("parity.json");
  const services = records.get("bus.json").activatable.filter((name) => name !== "org.freedesktop.DBus");
  return row(
    imageBusServices === services.length,
    `${imageBusServices} services can be activated`,
    services.length === 0 ? "private, activates nothing" : `activates ${services.join(", ")}`,
  );
}

function clock(records: AttemptRecords): Row {
  const { clockOffsetSeconds, imageZone } = records.get("parity.json");
  const { at, zone } = records.get("host.json").clock;
  const image = `its own clock, zone ${imageZone ?? "not set"}`;
  if (clockOffsetSeconds === null)
    return { status: "unknown", image, session: `host's zone ${zone}, offset not read` };
  const session = `${clockOffsetSeconds.toFixed(1)} s off the host's ${at}, zone ${imageZone ?? "UTC"}; the host's is ${zone}`;
  return row(
    Math.abs(clockOffsetSeconds) <= MAX_CLOCK_OFFSET &&
      canonicalZone(imageZone ?? "UTC") === canonicalZone(zone),
    image,
    session,
  );
}

/** Etc/UTC and UTC are one zone by two names. A name that is none is left as it is. */
function canonicalZone(zone: string): string {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return zone;
  }
}

function lockScreen(records: AttemptRecords): Row {
  const { imageLockers, sessionLockEnabled } = records.get("parity.json");
  const image = list(imageLockers);
  if (imageLockers.length === 0) return row(sessionLockEnabled !== true, image, "none");
  if (sessionLockEnabled === null) return { status: "unknown", image, session: "no such setting was read" };
  return row(sessionLockEnabled, image, sessionLockEnabled ? "locks" : "never locks");
}

function firstProcess(records: AttemptRecords): Row {
  const { imageInit } = records.get("parity.json");
  const init = records.get("processes.json").processes.find(({ pid }) => pid === 1)?.name ?? "none";
  return row(imageInit === init, imageInit ?? "none", init);
}

/** Their hooks in the bus are dropped with its activation; a session is under the host's, whatever its image brings. */
function securityModules(records: AttemptRecords): Row {
  const { imageSecurityModules, hostSecurityModules } = records.get("parity.json");
  const image = list(imageSecurityModules);
  if (hostSecurityModules === null)
    return imageSecurityModules.length === 0
      ? row(true, image, "none told of")
      : { status: "unknown", image, session: "the host does not tell which are in force" };
  const inForce = imageSecurityModules.filter((name) => hostSecurityModules.includes(name));
  return row(
    inForce.length === imageSecurityModules.length,
    image,
    `the host's: ${list(hostSecurityModules)}`,
  );
}

function runningOf(records: AttemptRecords, names: readonly string[]): string[] {
  const running = records.get("processes.json").processes.map(({ name }) => name);
  return names.filter((name) => running.includes(name));
}

function row(same: boolean, image: string, session: string): Row {
  return { status: same ? "same" : "differs", image, session };
}

function list(words: readonly string[]): string {
  return words.length === 0 ? "none" : words.join(", ");
}
