import { statSync } from "node:fs";
import { numbersOf, UNIX98_SLAVES } from "./devices.js";
import { readText } from "./proc.js";
import { type Finding, finding } from "./rules.js";
import type { Descriptor, Snapshot, Task } from "./snapshot.js";

const SLAVE = /^\/dev\/pts\/\d+$/;
const MASTER = /^\/dev\/(pts\/)?ptmx$/;

/**
 * criu/tty.c, "ctty inheritance detected": a process has /dev/tty open, and either end of the terminal that it stands
 * for is held by a process before it, as with a pager in a terminal's window. The tree lists parents before children.
 */
export function checkTerminals({ tree, proc }: Snapshot): Finding[] {
  const aliases = tree.flatMap((task) =>
    task.descriptors.filter(({ target }) => target === "/dev/tty").map(({ fd }) => ({ task, fd })),
  );
  if (aliases.length === 0) return [];
  const opener = openersOf(tree, proc);
  return aliases.flatMap(({ task, fd }) => {
    const terminal = terminalOf(task, proc);
    const first = opener.get(terminal);
    return first === undefined || first.pid === task.pid
      ? []
      : [finding("tty-opened-twice", `fd ${fd} /dev/tty, opened first by ${first.name}`, task)];
  });
}

/** The first process of the tree that has an end of each terminal open, by the slave's device numbers. */
function openersOf(tree: readonly Task[], proc: string): Map<string, Task> {
  const openers = new Map<string, Task>();
  for (const task of tree)
    for (const { fd, target } of task.descriptors) {
      const key = endOf(`${proc}/${task.pid}`, { fd, target });
      if (key !== undefined && !openers.has(key)) openers.set(key, task);
    }
  return openers;
}

/** A master's fdinfo tells the number of its slave as tty-index. */
function endOf(folder: string, { fd, target }: Descriptor): string | undefined {
  if (MASTER.test(target)) {
    const index = /^tty-index:\s*(\d+)/m.exec(readText(`${folder}/fdinfo/${fd}`) ?? "")?.[1];
    return index === undefined ? undefined : `${UNIX98_SLAVES.first}:${index}`;
  }
  const node = SLAVE.test(target) ? statSync(`${folder}/fd/${fd}`, { throwIfNoEntry: false }) : undefined;
  if (node === undefined) return undefined;
  const { major, minor } = numbersOf(node.rdev);
  return `${major}:${minor}`;
}

/** proc(5): tty_nr is the fifth field behind the name. */
function terminalOf({ pid }: Task, proc: string): string {
  const text = readText(`${proc}/${pid}/stat`) ?? "";
  const number = Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[4] ?? 0);
  const { major, minor } = numbersOf(number);
  return `${major}:${minor}`;
}
