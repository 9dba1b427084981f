import { chmod, copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { initBinaryPath } from "@drums/nsexec";
import { execa } from "execa";

const FLAGS = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-static", "-pthread"];
const FOLDERS = [
  "corpus",
  "dev",
  "home",
  "lower",
  "mnt",
  "proc",
  "run",
  "sys",
  "tmp",
  "usr/bin",
  "usr/lib/drums",
];

/** Compiles the corpus program as one static file, so that a root needs nothing else to run it. */
export async function compileProgram(sources: string, target: string): Promise<void> {
  const names = (await readdir(sources)).filter((name) => name.endsWith(".c"));
  await execa("gcc", [...FLAGS, "-o", target, ...names.map((name) => join(sources, name)), "-lrt"]);
}

/** The names of the program's cases. */
export async function programCases(program: string): Promise<string[]> {
  const { stdout } = await execa(program, ["list"]);
  return stdout.split("\n");
}

/** Makes the lower that every case's session stands on: the program, an init, a file, and folders to mount on. */
export async function makeLower(folder: string, program: string): Promise<void> {
  for (const name of FOLDERS) await mkdir(join(folder, name), { recursive: true });
  await chmod(join(folder, "corpus"), 0o777); // a case may have become another user
  await copyFile(program, join(folder, "usr/bin/corpus"));
  await copyFile(initBinaryPath(), join(folder, "usr/lib/drums/drums-init"));
  await writeFile(join(folder, "lower/file"), "lower\n");
}
