import { fstatSync } from "node:fs";
import { CriuError } from "../errors.js";
import type { CriuOptions } from "./messages.js";
import { FIRST_PASSED_FD } from "./start.js";

/** The kinds of `--external` and of an inherited descriptor's key (criu/external.c, criu/files.c). */
const EXTERNAL = /^(?:mnt|dev|file|tty|unix|veth|macvlan|net|pid|pipe|socket)[[:]/;

const UINT32_MAX = 0xffff_ffff;

/** Says what an option's value is not, or undefined where it is fit. */
type Check = (value: unknown) => string | undefined;

const descriptor: Check = (value) =>
  typeof value === "number" && isOpen(value) ? undefined : "is no open descriptor of this process";
const folder: Check = (value) =>
  typeof value === "number" && isOpen(value) && fstatSync(value).isDirectory()
    ? undefined
    : "is no open descriptor of a folder";
const unsigned: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= UINT32_MAX
    ? undefined
    : "is no whole number from 0 to 4294967295";
const positive: Check = (value) =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) <= 0x7fff_ffff ? undefined : "is no pid";
const absolute: Check = (value) => (String(value).startsWith("/") ? undefined : "is no absolute path");
const plainName: Check = (value) =>
  /^[^/]+$/.test(String(value))
    ? undefined
    : "is no plain file name; CRIU puts the file into its work folder";
const level: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 4 ? undefined : "is no level from 0 to 4";
const externals: Check = (value) => {
  const odd = (value as readonly string[]).find((text) => !EXTERNAL.test(text));
  return odd === undefined ? undefined : `names ${JSON.stringify(odd)}, whose kind CRIU does not know`;
};
const inherited: Check = (value) => {
  const odd = (value as readonly { key?: string; fd?: number }[]).find(
    ({ key, fd = 0 }) => !key || fd < FIRST_PASSED_FD,
  );
  return odd === undefined
    ? undefined
    : `needs a key and a descriptor that criu was given, not ${JSON.stringify(odd)}`;
};
const server: Check = (value) => {
  const { fd, port = 0 } = value as { fd?: number; port?: number };
  if (fd !== undefined) return fd < FIRST_PASSED_FD ? "has a descriptor that criu was not given" : undefined;
  return Number.isInteger(port) && port >= 0 && port <= 65535 ? undefined : "has no port from 0 to 65535";
};

/** The options whose values CRIU would misread, refuse late, or carry out on something else. */
const CHECKS: Partial<Record<keyof CriuOptions, Check>> = {
  imagesDirFd: folder,
  workDirFd: folder,
  statusFd: descriptor,
  pidfdStoreSk: descriptor,
  pid: positive,
  root: absolute,
  freezeCgroup: absolute,
  cgroupYard: absolute,
  logFile: plainName,
  logLevel: level,
  ghostLimit: unsigned,
  emptyNs: unsigned,
  cpuCap: unsigned,
  timeout: unsigned,
  external: externals,
  inheritFd: inherited,
  ps: server,
};

/**
 * Checks a request's options before anything is started. Descriptors of folders and of `statusFd` are this process's own: criu
 * opens them through /proc by the pid of its socket's other end, so one that is not open would be misread. Those of
 * `inheritFd` and `ps` are criu's own: they must have been given to it (`start.fds`).
 * @throws {CriuError} `RPC_ARGUMENT` with the option, its value and what it is not
 */
export function assertOptions(options: CriuOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (hasNul(value)) throw refused(name, value, "holds a zero byte");
    const why = CHECKS[name as keyof CriuOptions]?.(value);
    if (why !== undefined) throw refused(name, value, why);
  }
  if (options.imagesDirFd === undefined && options.imagesDir === undefined)
    throw refused("imagesDirFd", undefined, "is missing, and so is imagesDir");
}

function isOpen(fd: number): boolean {
  try {
    fstatSync(fd);
    return true;
  } catch {
    return false;
  }
}

function hasNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0");
  return Array.isArray(value) && value.some(hasNul);
}

function refused(option: string, value: unknown, why: string): CriuError {
  const shown = JSON.stringify(value) ?? "nothing";
  return new CriuError("RPC_ARGUMENT", `Option ${option} (${shown}) ${why}`, {
    hint: "Nothing was started: give the option as the protocol wants it (proto/rpc.proto)",
    facts: { option, value: shown },
  });
}
