import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isGone, listPidNamespace } from "@drums/nsexec/proc";
import type { ProcessIdentity } from "./identity.js";

/** Memory of a session, in bytes. What is shared by several processes of the machine counts for each by its part. */
export interface SessionMemory {
  readonly anonymousBytes: number;
  /** Shared memory that is mapped: of X, of SysV, memfd. Files in tmpfs that nobody maps are not seen. */
  readonly sharedBytes: number;
  readonly pageTableBytes: number;
  readonly kernelStackBytes: number;
  /** The sum of those: what the session takes of its own. */
  readonly ownBytes: number;
  /** Its part of files in the page cache, which other sessions on the same layers share. */
  readonly fileBytes: number;
  /** Pages that the kernel merged with equal ones, at their full size. 0 where the kernel does not say. */
  readonly mergedBytes: number;
}

/** x86-64 and arm64: THREAD_SIZE. */
const KERNEL_STACK_BYTES = 16 * 1024;

const NOTHING: SessionMemory = {
  anonymousBytes: 0,
  sharedBytes: 0,
  pageTableBytes: 0,
  kernelStackBytes: 0,
  ownBytes: 0,
  fileBytes: 0,
  mergedBytes: 0,
};

/** Adds up what the processes of a session take; it runs on meanwhile. About a millisecond for each process. */
export async function sessionMemory(
  init: ProcessIdentity,
  { proc = "/proc" }: { readonly proc?: string } = {},
): Promise<SessionMemory> {
  const processes = await listPidNamespace(init.pid, { proc });
  const parts = await Promise.all(processes.map(({ pid }) => processMemory(join(proc, String(pid)))));
  return parts.reduce(sum, NOTHING);
}

async function processMemory(folder: string): Promise<SessionMemory> {
  try {
    const [rollup, status] = await Promise.all(
      ["smaps_rollup", "status"].map((name) => readFile(join(folder, name), "utf8")),
    );
    return parseMemory(rollup ?? "", status ?? "");
  } catch (error) {
    if (isGone(error)) return NOTHING;
    throw error;
  }
}

/** Reads /proc/PID/smaps_rollup and /proc/PID/status (proc_pid_smaps(5), proc_pid_status(5)). */
export function parseMemory(rollup: string, status: string): SessionMemory {
  const anonymousBytes = kib(rollup, "Pss_Anon");
  const sharedBytes = kib(rollup, "Pss_Shmem");
  const pageTableBytes = kib(status, "VmPTE");
  const kernelStackBytes = Number(/^Threads:\s+(\d+)$/m.exec(status)?.[1] ?? 0) * KERNEL_STACK_BYTES;
  return {
    ...{ anonymousBytes, sharedBytes, pageTableBytes, kernelStackBytes },
    ownBytes: anonymousBytes + sharedBytes + pageTableBytes + kernelStackBytes,
    fileBytes: kib(rollup, "Pss_File"),
    mergedBytes: kib(rollup, "KSM"),
  };
}

function kib(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1] ?? 0) * 1024;
}

function sum(a: SessionMemory, b: SessionMemory): SessionMemory {
  const add = (key: keyof SessionMemory) => a[key] + b[key];
  return {
    anonymousBytes: add("anonymousBytes"),
    sharedBytes: add("sharedBytes"),
    pageTableBytes: add("pageTableBytes"),
    kernelStackBytes: add("kernelStackBytes"),
    ownBytes: add("ownBytes"),
    fileBytes: add("fileBytes"),
    mergedBytes: add("mergedBytes"),
  };
}
