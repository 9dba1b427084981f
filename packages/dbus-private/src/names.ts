import { DbusError } from "./errors.js";
import type { DbusValue } from "./wire/values.js";

/** The bus's own name. */
export const BUS_NAME = "org.freedesktop.DBus";

const MAX_NAMES = 4096;
const MAX_NAME_CHARACTERS = 255;

/**
 * The list of names of a reply; what is no name, or too much, is a stranger's and refused.
 *
 * @throws DbusError `PROTOCOL`
 */
export function nameList([list]: readonly DbusValue[]): string[] {
  if (Array.isArray(list) && list.length <= MAX_NAMES && list.every(isName)) return list;
  throw new DbusError("PROTOCOL", "the bus did not answer with a list of names", {
    hint: "check what listens on the socket; a session may have put another program there",
  });
}

/** The names that were asked for, without the unique ones that each connection has. */
export function wellKnownNames(reply: readonly DbusValue[]): string[] {
  return nameList(reply).filter((name) => !name.startsWith(":"));
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_NAME_CHARACTERS && /^[:A-Za-z0-9_.-]+$/.test(value);
}
