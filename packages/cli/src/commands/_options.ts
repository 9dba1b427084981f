import { DEFAULT_VERSION, PINNED_VERSIONS } from "@drums/criu";
import { NsexecError, type PortRequest, type ProfileName, parsePublish } from "@drums/nsexec";
import { type Command, InvalidArgumentError, Option } from "commander";
import { messageOf } from "../errors.js";
import { xServerNames } from "../recipes/find.js";
import { type LeanName, leanNames } from "../recipes/index.js";
import type { Screen, ScreenRequest, XServerName } from "../recipes/types.js";
import type { LimitRequest } from "../session/limits.js";

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

/** Parses an option in processors' worth of time: `1.5`. */
export function cpusOption(text: string): number {
  if (/^\d{1,4}(\.\d{1,3})?$/.test(text) && Number(text) >= 0.01) return Number(text);
  throw new InvalidArgumentError("give a number of processors from 0.01, such as 1.5.");
}

/** Parses a bound that is at least one. */
export function boundOption(text: string): number {
  const number = countOption(text);
  if (number > 0) return number;
  throw new InvalidArgumentError("give a whole number from 1.");
}

/** What {@link withLimitOptions} parses to. */
export interface LimitChoice {
  readonly memoryMax?: number;
  readonly cpuMax?: number;
  readonly pidsMax?: number;
  readonly allowUnlimited?: boolean;
}

/** `--memory-max`, `--cpu-max`, `--pids-max` and `--allow-unlimited`: what a session's cgroup may use. */
export function withLimitOptions(command: Command): Command {
  return command
    .option(
      "--memory-max <size>",
      "the most memory that the session may hold, and each sibling; its swap is 0",
      sizeOption,
    )
    .option(
      "--cpu-max <processors>",
      "the most processor time that it may take, such as 1.5 processors",
      cpusOption,
    )
    .option("--pids-max <count>", "the most processes and threads that it may have", boundOption)
    .addOption(allowUnlimitedOption());
}

/** `--allow-unlimited`: run where limits cannot be in force. */
export function allowUnlimitedOption(): Option {
  return new Option(
    "--allow-unlimited",
    "run without those limits that this machine cannot put in force, instead of refusing",
  );
}

/** The request that limit options stand for. */
export function limitRequest({ memoryMax, cpuMax, pidsMax, allowUnlimited }: LimitChoice): LimitRequest {
  const limits = {
    ...(memoryMax !== undefined && { memoryMaxBytes: memoryMax }),
    ...(cpuMax !== undefined && { cpus: cpuMax }),
    ...(pidsMax !== undefined && { pidsMax }),
  };
  return {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(allowUnlimited && { allowUnlimited }),
  };
}

/** What {@link withScreenOptions} parses to. */
export interface ScreenChoice {
  readonly geometry?: Screen;
  readonly xServer: XServerName;
}

/** What a desktop can be used on, and what a frame may hold (`MAX_PIXELS` of `@drums/readiness`). */
const SMALLEST: Screen = { width: 800, height: 600 };
const LARGEST: Screen = { width: 7680, height: 4320 };

/** `--geometry WIDTHxHEIGHT` and `--x-server`: a session's screen and what makes it up. */
export function withScreenOptions(command: Command): Command {
  return command
    .option(
      "--geometry <widthxheight>",
      "the size of the screen in pixels, such as 1920x1080 (default: 1280x800)",
      parseGeometry,
    )
    .addOption(
      new Option(
        "--x-server <name>",
        "xvfb: its picture is a file; xorg-dummy: a real machine's Xorg, on the dummy driver",
      )
        .choices(xServerNames)
        .default("xvfb"),
    );
}

/** The request that screen options stand for. */
export function screenRequest({ geometry, xServer }: ScreenChoice): ScreenRequest {
  return { screen: geometry, xServer };
}

function parseGeometry(text: string): Screen {
  const [, width = 0, height = 0] = (/^(\d{1,5})x(\d{1,5})$/.exec(text) ?? []).map(Number);
  const fits =
    width >= SMALLEST.width &&
    height >= SMALLEST.height &&
    width <= LARGEST.width &&
    height <= LARGEST.height;
  if (fits) return { width, height };
  throw new InvalidArgumentError(
    `give WIDTHxHEIGHT from ${sizeText(SMALLEST)} to ${sizeText(LARGEST)}, such as 1920x1080.`,
  );
}

function sizeText({ width, height }: Screen): string {
  return `${width}x${height}`;
}

/** What {@link criuOption} parses to. */
export interface CriuOptionChoice {
  /** One of `PINNED_VERSIONS`. */
  readonly criu?: string;
}

/** `--criu VERSION`: which CRIU; what it is where none is named differs between making and reading images. */
export function criuOption(otherwise = `the installed one, else ${DEFAULT_VERSION}`): Option {
  return new Option(
    "--criu <version>",
    `which CRIU, installed privately on first use (default: ${otherwise})`,
  ).choices(PINNED_VERSIONS);
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

/** Parses `--lean`: names with commas between, `all`, or `none`. */
export function leanOption(text: string): LeanName[] {
  if (text === "none") return [];
  if (text === "all") return [...leanNames];
  const names = text.split(",");
  const known = names.filter((name): name is LeanName => leanNames.some((one) => one === name));
  if (known.length === names.length) return known;
  throw new InvalidArgumentError(`use all, none, or some of ${leanNames.join(",")}.`);
}
