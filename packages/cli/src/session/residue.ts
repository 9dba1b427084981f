import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { readHierarchy } from "@drums/cgroup2";
import { readMountinfo } from "@drums/nsexec/proc";
import { codeOf } from "../errors.js";
import type { Home } from "../home.js";
import { processesOn } from "./remove.js";
import { sessionFolder } from "./store.js";

/** What is still there of a set of sessions, looked for in the kernel's own tables and not in our records. */
export interface Residue {
  readonly mounts: string[];
  readonly loops: string[];
  /** Processes that see one of the sessions' uppers. */
  readonly processes: string[];
  /** Storage daemons that serve an image from below the home, and the slirp4netns of its sessions. */
  readonly daemons: string[];
  readonly sockets: string[];
  readonly cgroups: string[];
  readonly folders: string[];
}

/** What a search needs to know. */
export interface ResidueQuery {
  readonly home: Home;
  readonly sessionIds: readonly string[];
  /** Folders that must be gone beside the sessions' own, such as a probe's checkpoint. */
  readonly folders?: readonly string[];
}

/** Searches for what sessions left. All lists empty is what is wanted. */
export async function findResidue({ home, sessionIds, folders = [] }: ResidueQuery): Promise<Residue> {
  const sessions = sessionIds.map((id) => sessionFolder(home, id));
  const below = (path: string) => path.startsWith(`${home.path}/`);
  const mounts = (await readMountinfo("self")).map(({ mountPoint }) => mountPoint).filter(below);
  const processes = (await Promise.all(sessions.map(({ upper }) => processesOn(upper)))).flat();
  const gone = await existing([...sessions.map(({ path }) => path), ...folders]);
  return {
    mounts,
    loops: await loopsBelow(home),
    processes: processes.map(String),
    daemons: await daemonsOf(home),
    sockets: (await readFile("/proc/net/unix", "utf8"))
      .split("\n")
      .filter((line) => line.includes(`${home.path}/`)),
    cgroups: await groupsOf(sessionIds),
    folders: gone,
  };
}

/** True where nothing is left. */
export function isClean(residue: Residue): boolean {
  return Object.values(residue).every((list: string[]) => list.length === 0);
}

async function loopsBelow(home: Home): Promise<string[]> {
  const loops = (await readdir("/sys/block")).filter((name) => name.startsWith("loop"));
  const backing = await Promise.all(
    loops.map(async (name) => {
      const file = await readFile(`/sys/block/${name}/loop/backing_file`, "utf8").catch(() => "");
      return { name, file: file.trim() };
    }),
  );
  return backing
    .filter(({ file }) => file.startsWith(`${home.path}/`))
    .map(({ name, file }) => `${name}: ${file}`);
}

async function daemonsOf(home: Home): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const program = await readlink(`/proc/${pid}/exe`).catch(() => "");
    if (!/\/(qemu-storage-daemon|qemu-nbd|slirp4netns)$/.test(program)) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (command.includes(`${home.path}/`)) found.push(`${pid}: ${command.replaceAll("\0", " ").trim()}`);
  }
  return found;
}

async function groupsOf(sessionIds: readonly string[]): Promise<string[]> {
  const { mountPoint } = await readHierarchy();
  if (mountPoint === undefined) return [];
  return existing(sessionIds.map((id) => join(mountPoint, "drums", id)));
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      try {
        await readdir(path);
        return [path];
      } catch (error) {
        return codeOf(error) === "ENOENT" ? [] : [path];
      }
    }),
  );
  return found.flat();
}
