import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { initBinaryPath } from "@drums/nsexec";
import { execa } from "execa";

const SOURCES = fileURLToPath(new URL("program", import.meta.url));
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

/** Puts the corpus program at a place: what DRUMS_CORPUS_PROGRAM names, where there is no compiler; else compiled. */
export async function makeProgram(target: string): Promise<void> {
  const made = process.env.DRUMS_CORPUS_PROGRAM;
  if (made !== undefined) await copyFile(made, target);
  else await execa("sh", [join(SOURCES, "build.sh"), target]);
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
