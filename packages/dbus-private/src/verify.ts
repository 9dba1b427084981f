import { randomBytes } from "node:crypto";
import { DbusError } from "./errors.js";
import { BUS_NAME, nameList, wellKnownNames } from "./names.js";
import { type BusConnection, busCall, type ConnectBus, openBus } from "./wire/connection.js";
import type { DbusValue } from "./wire/values.js";

/** What {@link verifyBus} is given. */
export interface VerifyBusSpec {
  /** Opens a stream to the bus's socket; for a session it must go through the session's root. */
  readonly connect: ConnectBus;
  /** The user to be, as the bus sees it; default whoever the kernel says we are. */
  readonly uid?: number;
  /** For each step, in milliseconds; default 2000. */
  readonly timeoutMs?: number;
}

/** One check of {@link verifyBus}. */
export interface BusCheck {
  readonly name: "owner" | "activatable" | "missing name";
  readonly ok: boolean;
  readonly detail: string;
}

/** What {@link verifyBus} found; `ok` when every check is. */
export interface BusReport {
  readonly ok: boolean;
  readonly checks: readonly BusCheck[];
  /** The bus's GUID (siblings of a checkpoint share it: it identifies no bus). */
  readonly id: string;
  readonly activatable: readonly string[];
  /** The names that are owned, without the unique ones. */
  readonly names: readonly string[];
  /** A call to a name that nobody owns: the error's name and how long it took. */
  readonly missingName: { readonly error: string; readonly ms: number };
}

const SERVICE_UNKNOWN = "org.freedesktop.DBus.Error.ServiceUnknown";
const QUOTED_CHARACTERS = 255;

/**
 * Verifies that a bus is private and activates nothing: the owner of org.freedesktop.DBus is the bus itself, it
 * is the only activatable name, and a call to a name that nobody owns fails at once as unknown. A check that
 * does not hold is a result; the bus is treated as hostile, every step is bounded in time and size.
 *
 * @throws DbusError where there is no bus to ask: `CONNECT_FAILED`, `AUTH_REFUSED`, `PROTOCOL`, `CLOSED`, `TIMEOUT`
 */
export async function verifyBus(spec: VerifyBusSpec): Promise<BusReport> {
  const bus = await openBus(spec.connect, spec);
  const ask = (member: string, ...args: string[]) => bus.call(busCall(member, ...args), spec);
  try {
    const [owner] = await ask("GetNameOwner", BUS_NAME);
    const [id] = await ask("GetId");
    const activatable = nameList(await ask("ListActivatableNames"));
    const names = wellKnownNames(await ask("ListNames"));
    const missingName = await callMissingName(bus, spec);
    const checks = [checkOwner(owner), checkActivatable(activatable), checkMissingName(missingName)];
    return { ok: checks.every(({ ok }) => ok), checks, id: quote(id), activatable, names, missingName };
  } finally {
    bus.close();
  }
}

async function callMissingName(bus: BusConnection, spec: VerifyBusSpec): Promise<BusReport["missingName"]> {
  // A name that nobody can have foreseen, and so have put an answer behind.
  const destination = `org.drums.Missing.x${randomBytes(8).toString("hex")}`;
  const call = { destination, path: "/", interface: "org.freedesktop.DBus.Peer", member: "Ping" };
  const started = performance.now();
  const error = await errorNameOf(bus.call(call, spec));
  return { error, ms: performance.now() - started };
}

async function errorNameOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "none: the call was answered";
  } catch (error) {
    if (error instanceof DbusError && error.errorName !== undefined) return error.errorName;
    if (error instanceof DbusError && error.code === "TIMEOUT") return "none: no answer in time";
    throw error;
  }
}

function checkOwner(owner: DbusValue | undefined): BusCheck {
  const ok = owner === BUS_NAME;
  return { name: "owner", ok, detail: `${BUS_NAME} is owned by ${ok ? "the bus itself" : quote(owner)}` };
}

function checkActivatable(activatable: readonly string[]): BusCheck {
  const others = activatable.filter((name) => name !== BUS_NAME);
  const ok = others.length === 0 && activatable.length === 1;
  const detail = ok
    ? `only ${BUS_NAME} is activatable`
    : `activatable: ${activatable.slice(0, 20).join(" ")}`;
  return { name: "activatable", ok, detail };
}

function checkMissingName({ error, ms }: BusReport["missingName"]): BusCheck {
  const detail = `a call to a name that nobody owns gave ${error} after ${ms.toFixed(1)} ms`;
  return { name: "missing name", ok: error === SERVICE_UNKNOWN, detail };
}

function quote(value: DbusValue | undefined): string {
  return typeof value === "string" ? value.slice(0, QUOTED_CHARACTERS) : "nobody";
}
