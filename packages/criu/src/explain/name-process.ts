import type { ProcOptions } from "@drums/nsexec/proc";
import { type Descriptor, type Task, takeSnapshot } from "../audit/snapshot.js";
import { readProcessName } from "../images/processes.js";
import type { ExplainedProcess, Explanation } from "./explain.js";
import { FAILURES } from "./rules.js";

/**
 * Gives the explanation of a failed dump the process that it is about, by name: CRIU's own lines hold a number at best.
 * The tree runs on, so it is looked for in /proc by what the line does say. Where it is not found nothing is added.
 * @param initPid host pid of the tree's root
 */
export function nameDumped(
  explanation: Explanation,
  { initPid, ...options }: ProcOptions & { readonly initPid: number },
): Explanation {
  const named = FAILURES.find(({ id }) => id === explanation.rule)?.named;
  if (named === undefined && explanation.facts.pid === undefined) return explanation;
  const { tree } = takeSnapshot(initPid, options);
  const process =
    named === undefined || named === "pid"
      ? undefined
      : byDescriptor(holders(tree, explanation), explanation);
  const found = process ?? byPid(tree, explanation);
  return found === undefined ? explanation : { ...explanation, process: found };
}

/** The task at which the dump ended, where the log tells it, is the one that holds the descriptor. */
function holders(tree: readonly Task[], { facts }: Explanation): readonly Task[] {
  return facts.pid === undefined ? tree : tree.filter(({ pid }) => pid === Number(facts.pid));
}

/** The same for a failed restore, by the inner pid of the line and the name that the images have for it. */
export async function nameRestored(
  explanation: Explanation,
  { imagesDir }: { readonly imagesDir: string },
): Promise<Explanation> {
  const { pid } = explanation;
  if (pid === undefined) return explanation;
  const name = await readProcessName(imagesDir, pid).catch(() => undefined);
  return name === undefined ? explanation : { ...explanation, process: { name, innerPid: pid } };
}

/** A process as a message names it: `xterm (pid 4711 on the host, 12 inside, descriptor 7)`. */
export function processText({ name, pid, innerPid, fd }: ExplainedProcess): string {
  const facts = [
    pid === undefined ? undefined : `pid ${pid} on the host`,
    innerPid === undefined ? undefined : `${pid === undefined ? "pid " : ""}${innerPid} inside`,
    fd === undefined ? undefined : `descriptor ${fd}`,
  ];
  return `${name} (${facts.filter((fact) => fact !== undefined).join(", ")})`;
}

function byPid(tree: readonly Task[], { facts }: Explanation): ExplainedProcess | undefined {
  const task = tree.find(({ pid }) => pid === Number(facts.pid));
  return task && processOf(task);
}

function byDescriptor(tree: readonly Task[], { facts }: Explanation): ExplainedProcess | undefined {
  for (const task of tree)
    for (const descriptor of task.descriptors)
      if (isMeant(descriptor, facts)) return { ...processOf(task), fd: descriptor.fd };
  return undefined;
}

/** Paths come without their first slash from CRIU, and a file without a name has "(deleted)" behind it in /proc. */
function isMeant({ fd, target }: Descriptor, facts: Explanation["facts"]): boolean {
  const socket = facts.socket ?? (facts.socketHex && String(Number.parseInt(facts.socketHex, 16)));
  if (socket !== undefined) return target === `socket:[${socket}]`;
  if (facts.object === undefined) return false;
  if (facts.fd !== undefined && Number(facts.fd) >= 0 && Number(facts.fd) !== fd) return false;
  return plain(target) === plain(facts.object);
}

function plain(path: string): string {
  return path.replace(/ \(deleted\)$/, "").replace(/^\/+/, "");
}

function processOf({ pid, name, innerPid }: Task): ExplainedProcess {
  return { name, pid, ...(innerPid === undefined ? {} : { innerPid }) };
}
