import { readdir, readFile, readlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { readStartTime } from "@drums/nsexec/proc";
import { RootfsError, reasonOf, systemCode } from "../errors.js";
import type { RootFolder } from "./layout.js";
import type { RootSystem } from "./system.js";

/** What works on a root's folder: its daemons, and the short programs of a replay, which outlive a killed owner. */
const PROGRAMS = new Set(["qemu-storage-daemon", "qemu-nbd", "nbdfuse", "qemu-img", "e2fsck"]);

/** A process, told from a later one with the same pid by its start time in clock ticks. */
export interface DaemonIdentity {
  readonly pid: number;
  readonly startTime: string;
}

/** How a daemon is started that writes its pid file once it serves. */
export interface DaemonCommand {
  readonly file: string;
  readonly argv: readonly string[];
  /** Default: the folder's `pidFile`. */
  readonly pidFile?: string;
  /** It does not put itself into the background. Default false, as QEMU's. */
  readonly foreground?: boolean;
}

/**
 * Starts a daemon and waits until it serves. It outlives this process.
 *
 * @throws RootfsError DAEMON_FAILED with the program's own words
 */
export async function startDaemon(
  system: RootSystem,
  folder: RootFolder,
  command: DaemonCommand,
): Promise<DaemonIdentity> {
  const { file, argv, pidFile = folder.pidFile, foreground = false } = command;
  try {
    if (foreground) {
      // Such a one leaves its pid file behind, which would tell that it serves before it does.
      await system.removeFile(pidFile);
      await system.startDetached(file, argv, { pidFile, log: folder.log });
    } else await system.run(file, argv);
    const pid = Number((await readFile(pidFile, "utf8")).trim());
    return { pid, startTime: String(await readStartTime(pid)) };
  } catch (cause) {
    const words = String((cause as { stderr?: unknown }).stderr ?? "").trim() || reasonOf(cause);
    throw new RootfsError("DAEMON_FAILED", `${file} did not come up: ${words}`, {
      path: folder.disk,
      hint: hintFor(words, cause),
      cause,
    });
  }
}

function hintFor(words: string, cause: unknown): string {
  if (systemCode(cause) === "ENOENT")
    return "Install qemu-system-common (storage daemon), qemu-utils (qemu-nbd) or libnbd-bin (nbdfuse).";
  if (/lock/i.test(words))
    return "Another program, such as a virtual machine, writes to the image: shut it down.";
  return "Its own words say what it misses; `drums preflight` checks /dev/fuse and the programs.";
}

/**
 * Daemons and other programs of ours that work on a root's folder, found by their command lines: it is named
 * there before any record of ours could hold their pid.
 */
export async function findDaemons(
  folder: RootFolder,
  { proc = "/proc" }: { readonly proc?: string } = {},
): Promise<number[]> {
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => serves(join(proc, pid), folder)));
  return pids.filter((_, index) => found[index]).map(Number);
}

/** Whether the process is still there, and still the same. */
export async function isAlive({ pid, startTime }: DaemonIdentity): Promise<boolean> {
  try {
    if (String(await readStartTime(pid)) !== startTime) return false;
    // One that is ending, or a zombie, has a start time but no memory any more, and so no command line.
    return (await readFile(`/proc/${pid}/cmdline`, "utf8")) !== "";
  } catch {
    return false;
  }
}

async function serves(process: string, folder: RootFolder): Promise<boolean> {
  try {
    const command = await readFile(join(process, "cmdline"), "utf8");
    // The slash behind the id keeps a root from taking down one whose id begins with its own.
    if (!command.includes(`${folder.path}/`)) return false;
    return PROGRAMS.has(basename(await readlink(join(process, "exe"))).replace(/ \(deleted\)$/, ""));
  } catch {
    return false;
  }
}
