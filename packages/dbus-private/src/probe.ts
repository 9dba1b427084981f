import { DbusError } from "./errors.js";
import { BUS_NAME, wellKnownNames } from "./names.js";
import {
  type BusConnection,
  busCall,
  type ConnectBus,
  type OpenBusOptions,
  openBus,
} from "./wire/connection.js";

/** How the owner of a name took a question. */
export interface NameAnswer {
  readonly name: string;
  /**
   * `answers`: with a value or an error of its own. `mute`: nothing in time. `denied`: the bus's policy lets nobody
   * of ours ask, so it is not known. `gone`: the name lost its owner meanwhile.
   */
  readonly status: "answers" | "mute" | "denied" | "gone";
  /** Until the answer, or the time that was given. */
  readonly ms: number;
}

/** Every owned name of a bus with how it answers, in the bus's order. */
export interface NamesReport {
  readonly names: readonly NameAnswer[];
  /** Those that are owned but answer nothing: who calls one waits for D-Bus's 25 seconds. */
  readonly mute: readonly string[];
}

/** Options of {@link probeNames}. */
export interface ProbeNamesOptions {
  /** How long an owner may take, in milliseconds; default 500. All are asked at once. */
  readonly timeoutMs?: number;
}

/** A bus that is asked about more names than this is flooded; a desktop has fewer than a hundred. */
const MAX_PROBED = 512;
const ACCESS_DENIED = "org.freedesktop.DBus.Error.AccessDenied";
const NO_OWNER = new Set([
  "org.freedesktop.DBus.Error.ServiceUnknown",
  "org.freedesktop.DBus.Error.NameHasNoOwner",
  "org.freedesktop.DBus.Error.NoReply", // its owner left the bus with our call unanswered
]);

/** Asked in this order while a policy denies the one before: a system bus lets few interfaces through. */
const QUESTIONS = [
  { interface: "org.freedesktop.DBus.Peer", member: "Ping" },
  { interface: "org.freedesktop.DBus.Introspectable", member: "Introspect" },
  { interface: "org.freedesktop.DBus.Properties", member: "GetAll", args: ["org.freedesktop.DBus.Peer"] },
] as const;

/**
 * Asks the owner of every well-known name a question that any D-Bus library answers, with a short timeout, so that
 * names are found that are owned but mute: a desktop that calls one stands still for 25 seconds, where an absent
 * name fails at once. A program whose library answers from a thread of its own counts as answering, whatever its
 * main loop does.
 *
 * @throws DbusError `CLOSED`, `PROTOCOL`, `TIMEOUT` where the bus itself does not answer
 */
export async function probeNames(bus: BusConnection, options: ProbeNamesOptions = {}): Promise<NamesReport> {
  const { timeoutMs = 500 } = options;
  const owned = wellKnownNames(await bus.call(busCall("ListNames"))).filter((name) => name !== BUS_NAME);
  if (owned.length > MAX_PROBED)
    throw new DbusError("PROTOCOL", `the bus has ${owned.length} names, more than ${MAX_PROBED}`, {
      hint: "look who floods the bus with names",
    });
  const names = await Promise.all(owned.map((name) => probe(bus, name, timeoutMs)));
  return { names, mute: names.filter(({ status }) => status === "mute").map(({ name }) => name) };
}

/**
 * The names of a bus that are owned but mute; of a bus that is mute itself its own, `org.freedesktop.DBus`. Connects,
 * asks and closes.
 *
 * @throws DbusError `CONNECT_FAILED`, `AUTH_REFUSED`, `PROTOCOL`, `CLOSED`
 */
export async function findMuteNames(
  connect: ConnectBus,
  options: ProbeNamesOptions & OpenBusOptions = {},
): Promise<readonly string[]> {
  try {
    const bus = await openBus(connect, options);
    try {
      return (await probeNames(bus, options)).mute;
    } finally {
      bus.close();
    }
  } catch (error) {
    if (error instanceof DbusError && error.code === "TIMEOUT") return [BUS_NAME];
    throw error;
  }
}

async function probe(bus: BusConnection, name: string, timeoutMs: number): Promise<NameAnswer> {
  const started = performance.now();
  let status: NameAnswer["status"] = "denied";
  for (const question of QUESTIONS) {
    status = await statusOf(
      bus.call({ destination: name, path: "/", ...question, noAutoStart: true }, { timeoutMs }),
    );
    if (status !== "denied") break;
  }
  return { name, status, ms: performance.now() - started };
}

async function statusOf(answer: Promise<unknown>): Promise<NameAnswer["status"]> {
  try {
    await answer;
    return "answers";
  } catch (error) {
    if (!(error instanceof DbusError)) throw error;
    if (error.code === "TIMEOUT") return "mute";
    if (error.errorName === undefined) throw error;
    if (error.errorName === ACCESS_DENIED) return "denied";
    return NO_OWNER.has(error.errorName) ? "gone" : "answers";
  }
}
