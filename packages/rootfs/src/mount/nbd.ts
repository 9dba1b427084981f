import { type FileHandle, open, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RootfsError, reasonOf } from "../errors.js";
import { exists } from "../files.js";
import type { BlockNode } from "../image/source.js";
import { type DaemonIdentity, isAlive, startDaemon } from "./daemon.js";
import type { RootFolder } from "./layout.js";
import { tryLock } from "./lock.js";
import type { RootSystem } from "./system.js";

const CONNECT_TIMEOUT_MS = 10_000;
const POLL_MS = 5;

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

/**
 * Connects the disk of a block graph to a free NBD device and returns that device, once the kernel reads from it.
 * The device is locked until then (flock(2) on a block device, as systemd and udev do it): qemu-nbd tells nobody
 * when another one was faster.
 *
 * @throws RootfsError NO_WAY when all are in use, DAEMON_FAILED
 */
export async function connectNbd(
  system: RootSystem,
  folder: RootFolder,
  { node, writable }: { readonly node: BlockNode; readonly writable: boolean },
): Promise<{ device: string; daemon: DaemonIdentity }> {
  const { device, lock } = await lockFreeNbd();
  try {
    const argv = nbdArguments(folder, device, node, writable);
    const daemon = await startDaemon(system, folder, { file: "qemu-nbd", argv });
    await waitUntilServed(device, daemon, folder);
    return { device, daemon };
  } finally {
    await lock.close();
  }
}

async function lockFreeNbd(): Promise<{ device: string; lock: FileHandle }> {
  const locked = new Set<string>();
  for (;;) {
    const device = await findFreeNbd({ except: locked });
    const lock = await open(device, "r");
    // Whoever had the lock until now may have connected it.
    if (tryLock(lock.fd) && (await servingTask(device)) === undefined) return { device, lock };
    await lock.close();
    locked.add(device);
  }
}

/** qemu-nbd is in the background before it has handed the device to the kernel: it is empty until then. */
async function waitUntilServed(device: string, daemon: DaemonIdentity, { disk }: RootFolder): Promise<void> {
  const deadline = performance.now() + CONNECT_TIMEOUT_MS;
  for (;;) {
    const task = await servingTask(device);
    if (task !== undefined && (await sizeOf(device)) > 0) {
      if (await exists(`/proc/${daemon.pid}/task/${task}`)) return;
      throw notServed(device, disk, `process ${task} serves it`);
    }
    if (!(await isAlive(daemon))) throw notServed(device, disk, "qemu-nbd has ended");
    if (performance.now() > deadline) throw notServed(device, disk, "it stays empty");
    await sleep(POLL_MS);
  }
}

function notServed(device: string, path: string, why: string): RootfsError {
  return new RootfsError("DAEMON_FAILED", `qemu-nbd could not connect ${device}: ${why}`, {
    path,
    hint: "The kernel's log (`dmesg`) tells what NBD misses; `qemu-nbd -d DEVICE` disconnects a device.",
    facts: { device },
  });
}

/** The task in whose name the kernel serves a device; it shows one only while the device is connected. */
async function servingTask(device: string, sysfs = "/sys"): Promise<string | undefined> {
  const text = await readFile(join(sysfs, "block", basename(device), "pid"), "utf8").catch(() => undefined);
  return text?.trim();
}

async function sizeOf(device: string): Promise<number> {
  return Number(await readFile(join("/sys/block", basename(device), "size"), "utf8"));
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
export async function findFreeNbd({
  sysfs = "/sys",
  except = new Set(),
}: {
  readonly sysfs?: string;
  readonly except?: ReadonlySet<string>;
} = {}): Promise<string> {
  const names = (await readdir(join(sysfs, "block"))).filter((name) => /^nbd\d+$/.test(name));
  names.sort((a, b) => Number(a.slice(3)) - Number(b.slice(3)));
  for (const device of names.map((name) => `/dev/${name}`))
    if (!except.has(device) && (await servingTask(device, sysfs)) === undefined) return device;
  throw new RootfsError("NO_WAY", `all ${names.length} NBD devices are in use`, {
    hint: "Disconnect one (`qemu-nbd -d /dev/nbdN`), or load the module with a larger nbds_max.",
  });
}
