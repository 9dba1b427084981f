import { readText } from "./proc.js";
import { type Finding, finding } from "./rules.js";
import type { Snapshot, Task } from "./snapshot.js";

/** `Can't dump nested … namespace`. */
const REFUSED_NESTED = [
  "pid",
  "pid_for_children",
  "user",
  "ipc",
  "uts",
  "time",
  "time_for_children",
  "cgroup",
] as const;
/** What Chromium's helpers are started with, and Electron's. */
const BROWSER_HELPER = /\0--type=(zygote|renderer|gpu-process|utility)/;

/** Checks the tree itself: tracers, namespaces, leaders, states, and who else is in its pid namespace. */
export function checkTasks(snapshot: Snapshot, { emptyNet }: { readonly emptyNet: boolean }): Finding[] {
  const { tree, outsiders } = snapshot;
  const init = tree[0];
  if (init === undefined) return [];
  return [
    ...tree
      .filter(({ tracer }) => tracer !== 0)
      .map((task) => finding("task-traced", `by pid ${task.tracer}`, task)),
    ...tree
      .filter(({ stat }) => stat.state === "D")
      .map((task) => finding("task-uninterruptible", "state D", task)),
    ...tree.flatMap((task) => nestedNamespaces(task, { init, proc: snapshot.proc })),
    ...tree.flatMap((task) => separateNet(task, { init, emptyNet })),
    ...tree.flatMap((task) => lostSettings(task, init)),
    ...tree.flatMap((task) => foreignLeader(task, snapshot)),
    ...outsiders.map((process) =>
      finding("task-outside-tree", `pid ${process.pid} ${process.name}`, process),
    ),
  ];
}

/** A zombie has no namespaces left to read. */
function nestedNamespaces(task: Task, { init, proc }: { init: Task; proc: string }): Finding[] {
  const kinds = REFUSED_NESTED.filter((kind) => isApart(task, init, kind));
  if (kinds.length === 0) return [];
  const browser =
    kinds.includes("user") && BROWSER_HELPER.test(readText(`${proc}/${task.pid}/cmdline`) ?? "");
  if (browser) return [finding("browser-sandbox", `${kinds.join(", ")} namespaces`, task)];
  return kinds.map((kind) => finding("namespace-nested", `${kind} namespace ${task.namespaces[kind]}`, task));
}

/** A net namespace of its own, which CRIU saves where it saves any. */
function separateNet(task: Task, { init, emptyNet }: { init: Task; emptyNet: boolean }): Finding[] {
  const { net = "" } = task.namespaces;
  return emptyNet && isApart(task, init, "net")
    ? [finding("namespace-net", `net namespace ${net}`, task)]
    : [];
}

function isApart(task: Task, init: Task, kind: string): boolean {
  const [own = "", common = ""] = [task.namespaces[kind], init.namespaces[kind]];
  return own !== "" && common !== "" && own !== common;
}

/** What differs from init is a process's own; CRIU saves neither. */
function lostSettings(task: Task, init: Task): Finding[] {
  const processors = task.processors !== init.processors;
  // A real-time task has none: the kernel shows 0, and it is not the task's own choice.
  const slack = task.timerSlackNs !== init.timerSlackNs && task.timerSlackNs !== "0";
  return [
    ...(processors ? [finding("task-affinity", `processors ${task.processors}`, task)] : []),
    ...(slack ? [finding("task-timer-slack", `${task.timerSlackNs} ns`, task)] : []),
  ];
}

/** A leader in a pid namespace above the reader's has no number here: the kernel shows 0. */
function foreignLeader(task: Task, { tree, livePids }: Snapshot): Finding[] {
  const { session } = task.stat;
  if (tree.some(({ pid }) => pid === session)) return [];
  const rule = session === 0 || livePids.has(session) ? "task-leader-outside" : "task-ended";
  return [
    finding(
      rule,
      session === 0 ? "a terminal session of an outer pid namespace" : `terminal session ${session}`,
      task,
    ),
  ];
}
