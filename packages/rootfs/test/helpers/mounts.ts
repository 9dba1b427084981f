import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readMountinfo } from "@drums/nsexec/proc";
import { listLoops } from "../../src/mount/loop.js";

/** A folder tree that looks enough like a root to be told from others. */
export async function rootTree(folder: string, marker = "inside\n"): Promise<string> {
  const root = join(folder, "tree");
  await mkdir(join(root, "etc"), { recursive: true });
  await mkdir(join(root, "usr/bin"), { recursive: true });
  await writeFile(join(root, "etc/hostname"), marker);
  return root;
}

/** What the kernel's own tables still know of a folder: mounts, loop devices, QEMU's processes, files. */
export async function leftOf(folder: string): Promise<string[]> {
  const mounts = (await readMountinfo("self")).filter(({ mountPoint }) => mountPoint.startsWith(folder));
  const loops = (await listLoops()).filter(({ backingFile }) => backingFile.startsWith(folder));
  const roots = await readdir(join(folder, "roots")).catch(() => []);
  return [
    ...mounts.map(({ mountPoint }) => `mount ${mountPoint}`),
    ...loops.map(({ device, backingFile }) => `${device} ${backingFile}`),
    ...(await daemonsOf(folder)).map((pid) => `daemon ${pid}`),
    ...roots.filter((name) => name !== "lock").map((name) => `folder ${name}`),
  ];
}

/** Pids of QEMU's daemons with this folder on their command line. */
export async function daemonsOf(folder: string): Promise<number[]> {
  const found: number[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    const program = await readlink(`/proc/${pid}/exe`).catch(() => "");
    if (command.includes(folder) && /\/(qemu-storage-daemon|qemu-nbd|nbdfuse)$/.test(program))
      found.push(Number(pid));
  }
  return found;
}

export async function sha256Of(file: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
}
