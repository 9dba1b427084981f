import { NsexecError, type PortRequest, type ProfileName, parsePublish } from "@drums/nsexec";
import { InvalidArgumentError, Option } from "commander";
import { messageOf } from "../errors.js";

/** Parses an option that counts something: a whole number from 0. */
export function countOption(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("give a whole number from 0.");
}

/** Collects `--publish HOSTPORT:GUESTPORT` of an option that may be given again. */
export function publishOption(text: string, before: readonly PortRequest[] = []): PortRequest[] {
  try {
    return [...before, parsePublish(text)];
  } catch (error) {
    throw new InvalidArgumentError(
      error instanceof NsexecError && error.hint ? error.hint : messageOf(error),
    );
  }
}

/** Parses the path of a program inside a session. */
export function insidePathOption(text: string): string {
  if (text.startsWith("/") && !text.includes("\0")) return text;
  throw new InvalidArgumentError("give an absolute path inside the session.");
}

const UNITS = { k: 1 << 10, m: 1 << 20, g: 1 << 30, t: 2 ** 40 } as const;

/** Parses an option that is a size in bytes, with a unit of 1024s: `512m`, `8g`. */
export function sizeOption(text: string): number {
  const [, number, unit] = /^(\d{1,6})([kmgt])$/i.exec(text) ?? [];
  if (number !== undefined && unit !== undefined)
    return Number(number) * UNITS[unit.toLowerCase() as keyof typeof UNITS];
  throw new InvalidArgumentError("give a number and a unit, such as 512m or 8g.");
}

/** What {@link profileOption} parses to. */
export interface ProfileChoice {
  readonly profile: ProfileName;
}

/** `--profile`: how tight a session is. */
export function profileOption(): Option {
  return new Option(
    "--profile <name>",
    "hardened: own user namespace; compat: without, for kernels that cannot",
  )
    .choices(["hardened", "compat"])
    .default("hardened");
}
