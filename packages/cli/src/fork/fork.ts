import type { Criu } from "@drums/criu";
import type { FreshMachine, PublishedPort } from "@drums/nsexec";
import { assertFits, type Capacity, capacityOf, type SiblingNeeds, siblingNeeds } from "../capacity/index.js";
import { loadCheckpoint } from "../checkpoint/load.js";
import { DrumsError, EXIT } from "../errors.js";
import type { Home } from "../home.js";
import { type Machine, thisMachine } from "../preflight/index.js";
import { findDesktop } from "../recipes/index.js";
import { awaitReady } from "../session/boot/ready.js";
import type { IdentityOptions } from "../session/clone-identity.js";
import { FrameParser } from "../session/frame-parser.js";
import { removeSession } from "../session/remove.js";
import { hasMemory, holdBack, memoryReason } from "./hold-back.js";
import { runQueue } from "./queue.js";
import { restoreSibling, type Sibling } from "./sibling.js";

/** A sibling that was found usable. Times in milliseconds from the moment at which its restore began. */
export interface UsableSibling {
  readonly id: string;
  readonly initPid: number;
  readonly restoreMs: number;
  readonly usableMs: number;
  readonly hostname: string;
  /** Ports of the host's 127.0.0.1 that lead into it. */
  readonly ports: readonly PublishedPort[];
  /** The machine's ids that were made anew, where asked for. */
  readonly fresh?: FreshMachine;
}

/** What is asked of a fork. */
export interface ForkRequest extends IdentityOptions {
  readonly checkpoint: string;
  readonly count: number;
  /** Fork where the checkpoint's limits cannot be in force. Default: what the session was told. */
  readonly allowUnlimited?: boolean;
}

/** How a fork is run. */
export interface ForkOptions {
  readonly criu: Criu;
  /** Told of each sibling as soon as it is usable. */
  readonly onUsable?: (sibling: UsableSibling) => void;
  /** More than fit: make those that do, and the rest as room comes. Default: refuse all before anything is done. */
  readonly wait?: boolean;
  /** Default the machine this process runs on. */
  readonly machine?: Machine;
  readonly signal?: AbortSignal | undefined;
}

/** A sibling's screen stood still when it was frozen: a second look tells whether it goes on so. */
const SETTLE_MS = 20;

/**
 * Restores siblings of a checkpoint, as many at a time as there are cores and memory is for. Each is judged by its own screen and window
 * facts before it counts; one that fails is taken down and reported, and the others stay.
 * @throws DrumsError NO_ROOM, NO_CHECKPOINT and what `loadCheckpoint` throws, before anything is done
 */
export async function forkCheckpoint(
  home: Home,
  { checkpoint: name, count, allowUnlimited, ...identity }: ForkRequest,
  { criu, onUsable, wait = false, machine = thisMachine, signal }: ForkOptions,
): Promise<{ readonly siblings: UsableSibling[]; readonly failures: unknown[] }> {
  const checkpoint = await loadCheckpoint(home, name, { criu, ...(allowUnlimited && { allowUnlimited }) });
  const needs = await siblingNeeds(checkpoint);
  const capacity = () => capacityOf(needs, { home: home.path, machine });
  if (!wait) assertFits(capacity(), { checkpoint: name, count });
  const frames = new FrameParser();
  const outcomes = await runQueue(
    count,
    async () => {
      const began = performance.now();
      const sibling = await restoreSibling(home, checkpoint, { criu, frames, signal, ...identity });
      const usable = await proveUsable(home, sibling, { began, signal });
      onUsable?.(usable);
      return usable;
    },
    { mayBegin: holdBack({ ...room(machine, needs, wait ? capacity : undefined), wait, signal }), signal },
  );
  return {
    siblings: outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : [])),
    failures: outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : [])),
  };
}

/** Memory is looked at before each; the kernel's limits too where more than fit were asked for. */
function room(machine: Machine, { memoryBytes }: SiblingNeeds, capacity?: () => Capacity) {
  const meminfo = () => machine.read("/proc/meminfo");
  return {
    hasRoom: (running: number) =>
      hasMemory(meminfo(), memoryBytes, running) && (capacity === undefined || capacity().fits > running),
    reason: () => memoryReason(meminfo(), memoryBytes),
  };
}

async function proveUsable(
  home: Home,
  { live, folder, report, fresh }: Sibling,
  { began, signal }: { readonly began: number; readonly signal: AbortSignal | undefined },
): Promise<UsableSibling> {
  try {
    const restoreMs = performance.now() - began;
    const desktop = findDesktop(live.record.spec.desktop);
    const { verdict } = await awaitReady(live, desktop, {
      settleMs: SETTLE_MS,
      timeoutMs: 10_000,
      signal,
    });
    if (!verdict.ready) throw notUsable(folder.id, verdict);
    const { spec, network } = live.record;
    return {
      id: folder.id,
      initPid: report.pid,
      restoreMs,
      usableMs: performance.now() - began,
      hostname: spec.hostname,
      ports: network?.ports ?? [],
      ...(fresh && { fresh }),
    };
  } catch (error) {
    live.close();
    await removeSession(home, folder);
    throw error;
  } finally {
    live.close();
  }
}

function notUsable(
  id: string,
  { name, reasons }: { readonly name: string; readonly reasons: readonly string[] },
) {
  return new DrumsError({
    code: "NOT_READY",
    exitCode: EXIT.verdictFailed,
    what: `sibling ${id} is not usable: ${name}`,
    why: reasons.join("; "),
    hint: "make the checkpoint of a session that is ready: `drums judge` says why a screen is not",
  });
}
