import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A process of a made-up /proc. */
export interface FakeTask {
  readonly pid: number;
  readonly ppid: number;
  readonly name: string;
  readonly innerPid?: number;
  readonly session?: number;
  readonly tracer?: number;
  readonly namespaces?: Readonly<Record<string, string>>;
  /** Link target by descriptor. */
  readonly fds?: Readonly<Record<number, string>>;
  /** Text of fdinfo by descriptor. */
  readonly fdinfo?: Readonly<Record<number, string>>;
}

const KINDS = ["pid", "pid_for_children", "mnt", "net", "user", "ipc", "uts", "time", "cgroup"];
export const MOUNTINFO = `100 99 0:40 / / rw - overlay overlay rw,index=on,nfs_export=on
101 100 0:41 / /proc rw - proc proc rw
102 100 0:42 / /dev rw - tmpfs tmpfs rw
103 100 0:43 / /sys ro - sysfs sysfs ro
104 100 0:44 / /dev/mqueue rw - mqueue mqueue rw
`;

/** Writes the files of /proc that the audit reads, for cases that cannot be made on every machine. */
export function fakeProc(
  proc: string,
  tasks: readonly FakeTask[],
  files: Readonly<Record<string, string>> = {},
): void {
  for (const task of tasks) writeTask(proc, task, tasks);
  for (const [name, text] of Object.entries(files)) write(join(proc, name), text);
}

function writeTask(proc: string, task: FakeTask, tasks: readonly FakeTask[]): void {
  const { pid, ppid, name, innerPid = pid - 999, session = 1000, tracer = 0 } = task;
  const folder = join(proc, String(pid));
  const children = tasks.filter((other) => other.ppid === pid).map((other) => other.pid);
  write(join(folder, "stat"), `${pid} (${name}) S ${ppid} ${session} ${session} ${"0 ".repeat(15)}777 0`);
  write(join(folder, "status"), `Name:\t${name}\nNSpid:\t${pid}\t${innerPid}\nTracerPid:\t${tracer}\n`);
  write(join(folder, "mountinfo"), MOUNTINFO);
  write(join(folder, "task", String(pid), "children"), `${children.join(" ")} `);
  mkdirSync(join(folder, "fd"));
  for (const [fd, target] of Object.entries(task.fds ?? {})) symlinkSync(target, join(folder, "fd", fd));
  for (const [fd, text] of Object.entries(task.fdinfo ?? {})) write(join(folder, "fdinfo", fd), text);
  mkdirSync(join(folder, "ns"));
  for (const kind of KINDS)
    symlinkSync(
      task.namespaces?.[kind] ?? `${kind.replace("_for_children", "")}:[1]`,
      join(folder, "ns", kind),
    );
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
