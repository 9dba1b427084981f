import { type Finding, finding } from "./rules.js";
import type { Snapshot, Task } from "./snapshot.js";

/** Nested mount and net namespaces pass; these do not (`Can't dump nested … namespace`). */
const REFUSED_NESTED = ["pid", "pid_for_children", "user", "ipc", "uts", "time", "cgroup"];

/** Checks the tree itself: tracers, namespaces, leaders, and who else is in its pid namespace. */
export function checkTasks(snapshot: Snapshot): Finding[] {
  const { tree, outsiders } = snapshot;
  const init = tree[0];
  if (init === undefined) return [];
  return [
    ...tree
      .filter(({ tracer }) => tracer !== 0)
      .map((task) => finding("task-traced", `by pid ${task.tracer}`, task)),
    ...tree.flatMap((task) => nestedNamespaces(task, init)),
    ...tree.flatMap((task) => foreignLeader(task, snapshot)),
    ...outsiders.map((process) =>
      finding("task-outside-tree", `pid ${process.pid} ${process.name}`, process),
    ),
  ];
}

/** A zombie has no namespaces left to read. */
function nestedNamespaces(task: Task, init: Task): Finding[] {
  return REFUSED_NESTED.filter((kind) => {
    const own = task.namespaces[kind];
    return own !== "" && init.namespaces[kind] !== "" && own !== init.namespaces[kind];
  }).map((kind) => finding("namespace-nested", `${kind} namespace ${task.namespaces[kind]}`, task));
}

function foreignLeader(task: Task, { tree, livePids }: Snapshot): Finding[] {
  const { session } = task.stat;
  const inTree = tree.some(({ pid }) => pid === session);
  return !inTree && livePids.has(session)
    ? [finding("task-leader-outside", `terminal session ${session}`, task)]
    : [];
}
