import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { RootfsError, reasonOf } from "../errors.js";
import type { BlockNode } from "../image/source.js";
import { type DaemonIdentity, startDaemon } from "./daemon.js";
import type { RootFolder } from "./layout.js";
import type { RootSystem } from "./system.js";

/** Why the kernel's NBD cannot be used here, or undefined. Loads the module where that helps. */
export async function probeNbd(system: RootSystem): Promise<string | undefined> {
  if (!(await system.onPath("qemu-nbd"))) return "qemu-nbd is not on PATH (Debian: qemu-utils)";
  if (await system.exists("/dev/nbd0")) return undefined;
  try {
    await system.run("modprobe", ["nbd"]);
  } catch (error) {
    const words = String((error as { stderr?: unknown }).stderr ?? "").trim() || reasonOf(error);
    return `/dev/nbd0 is missing and modprobe nbd failed: ${words.split("\n")[0]}`;
  }
  return (await system.exists("/dev/nbd0"))
    ? undefined
    : "/dev/nbd0 is missing even with the nbd module loaded";
}

/** Connects the disk of a block graph to a free NBD device and returns that device. */
export async function connectNbd(
  system: RootSystem,
  folder: RootFolder,
  { node, writable }: { readonly node: BlockNode; readonly writable: boolean },
): Promise<{ device: string; daemon: DaemonIdentity }> {
  const device = await findFreeNbd();
  const daemon = await startDaemon(system, folder, {
    file: "qemu-nbd",
    argv: nbdArguments(folder, device, node, writable),
  });
  return { device, daemon };
}

/** qemu-nbd's arguments; `--fork` returns once the device is connected. */
export function nbdArguments(
  folder: RootFolder,
  device: string,
  node: BlockNode,
  writable: boolean,
): string[] {
  return [`--connect=${device}`, ...serverArguments(folder.pidFile, node, writable)];
}

/** What qemu-nbd is told wherever it serves. */
export function serverArguments(pidFile: string, node: BlockNode, writable: boolean): string[] {
  return [
    ...(writable ? [] : ["--read-only"]),
    "--fork",
    `--pid-file=${pidFile}`,
    `json:${JSON.stringify(node)}`,
  ];
}

/**
 * The first NBD device that no process serves.
 *
 * @throws RootfsError NO_WAY when all are in use
 */
export async function findFreeNbd({ sysfs = "/sys" }: { readonly sysfs?: string } = {}): Promise<string> {
  const names = (await readdir(join(sysfs, "block"))).filter((name) => /^nbd\d+$/.test(name));
  names.sort((a, b) => Number(a.slice(3)) - Number(b.slice(3)));
  for (const name of names) {
    // The kernel shows `pid` only while a device is connected.
    const pid = await readFile(join(sysfs, "block", name, "pid"), "utf8").catch(() => undefined);
    if (pid === undefined) return `/dev/${name}`;
  }
  throw new RootfsError("NO_WAY", `all ${names.length} NBD devices are in use`, {
    hint: "Disconnect one (`qemu-nbd -d /dev/nbdN`), or load the module with a larger nbds_max.",
  });
}
