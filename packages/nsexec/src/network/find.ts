import { accessSync, constants, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { ProcOptions } from "../proc/read.js";
import { natFiles } from "./constants.js";

/**
 * Pids of the slirp4netns that serve an attachment with this folder, by their command lines. It finds what no record
 * names: the one of a process that was killed right after it had started it.
 */
export function findNat(folder: string, { proc = "/proc" }: ProcOptions = {}): number[] {
  const needle = `--api-socket=${natFiles(folder).socket}`;
  return readdirSync(proc)
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => argumentsOf(join(proc, pid, "cmdline")).includes(needle))
    .map(Number);
}

/** Where a program is on PATH, or in the folders of system programs; a path is taken as it is. */
export function findOnPath(name: string, path = process.env.PATH ?? ""): string | undefined {
  if (name.includes("/")) return isExecutable(name) ? name : undefined;
  const folders = [...path.split(delimiter), "/usr/sbin", "/sbin"];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function argumentsOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\0");
  } catch {
    return [];
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
