import { copyFile, mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { readElf } from "../../src/index.js";

/** How an object is linked. */
export interface Linked {
  readonly soname?: string;
  /** Names for DT_NEEDED, in this order. */
  readonly needs?: readonly string[];
  readonly runpath?: string;
  readonly rpath?: string;
  readonly flags?: readonly string[];
}

/** A merged-/usr root with this machine's own libc and loader, and nothing else that runs. */
export async function rootWithLibc(folder: string): Promise<{ root: string; loader: string; libs: string }> {
  const root = join(folder, "root");
  const loader = (await readElf(await realpath("/bin/sh"))).interpreter ?? "";
  const { stdout } = await execa("gcc", ["-print-multiarch"]);
  const libs = `/usr/lib/${stdout.trim()}`;
  for (const path of [
    libs,
    "/usr/lib64",
    "/usr/bin",
    "/etc",
    "/opt",
    "/proc",
    "/sys",
    "/dev",
    "/run",
    "/tmp",
  ])
    await mkdir(join(root, path), { recursive: true });
  for (const name of ["bin", "lib", "lib64"]) await symlink(`usr/${name}`, join(root, name));
  await copyFile(`${libs}/libc.so.6`, join(root, libs, "libc.so.6"));
  await copyFile(await realpath(loader), join(root, libs, "loader.so"));
  // An absolute link, as Debian has it: the host must not be looked at.
  await symlink(`${libs}/loader.so`, join(root, loader));
  return { root, loader, libs };
}

/** Links an object that uses nothing of what it needs, so that the order is the one that is written. */
export async function linkObject(root: string, path: string, linked: Linked, shared = true): Promise<void> {
  const { soname, needs = [], runpath, rpath, flags = [] } = linked;
  const target = join(root, path);
  await mkdir(dirname(target), { recursive: true });
  const source = `${target}.c`;
  await writeFile(source, shared ? "static int unused;" : "int main(void) { return 0; }");
  const stubs = await stubsFor(root, needs);
  const search = runpath ?? rpath;
  await execa("gcc", [
    ...(shared ? ["-shared", "-fPIC"] : []),
    "-o",
    target,
    source,
    "-Wl,--no-as-needed,--allow-shlib-undefined",
    ...(soname === undefined ? [] : [`-Wl,-soname,${soname}`]),
    ...(search === undefined ? [] : [`-Wl,-rpath,${search}`]),
    `-Wl,--${runpath === undefined ? "disable" : "enable"}-new-dtags`,
    ...stubs,
    ...flags,
  ]);
}

/** A library whose only content is its soname stands for each that is needed while linking. */
async function stubsFor(root: string, needs: readonly string[]): Promise<string[]> {
  const folder = join(dirname(root), "stubs");
  await mkdir(folder, { recursive: true });
  const paths: string[] = [];
  for (const [index, name] of needs.entries()) {
    const path = join(folder, `${index}-${name.replaceAll("/", "_")}`);
    await execa("gcc", ["-shared", "-nostdlib", "-x", "c", "/dev/null", `-Wl,-soname,${name}`, "-o", path]);
    paths.push(path);
  }
  return paths;
}
