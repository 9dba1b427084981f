import type { ProfileName } from "@drums/nsexec";
import { InvalidArgumentError, Option } from "commander";

/** Parses an option that counts something: a whole number from 0. */
export function countOption(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("give a whole number from 0.");
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
