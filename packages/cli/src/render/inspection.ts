import type { CheckpointInspection } from "../checkpoint/inspect.js";
import { DrumsError, EXIT } from "../errors.js";
import { bytesText, printable } from "./style.js";
import { renderTable } from "./table.js";

type Process = CheckpointInspection["processes"][number];

/** A checkpoint for people: sizes, the process tree, sockets that listen, mounts. */
export function inspectionText(found: CheckpointInspection): string {
  const { name, desktop, profile, criu, createdAt, sizes } = found;
  return [
    `${name}: ${desktop}, ${profile}, made by CRIU ${criu} at ${createdAt}`,
    `  ${bytesText(sizes.total)} of images: ${kindsText(sizes)}; upper ${bytesText(sizes.upper)}`,
    "",
    treeTable(found.processes),
    renderTable(
      ["MOUNT", "SOURCE", "OUTSIDE"],
      found.mounts.map(({ mountPoint, source, externalKey }) => [mountPoint, source, externalKey ?? ""]),
    ),
  ].join("\n");
}

/** One process with its files and mappings. @throws DrumsError NO_PROCESS */
export function processText({ name, processes }: CheckpointInspection, pid: number): string {
  const one = processes.find((process) => process.pid === pid);
  if (one === undefined) throw noProcess(name, pid);
  return [
    `${pid} ${printable(one.name)}: ${one.memory.exe ?? one.state}`,
    "",
    renderTable(
      ["FD", "KIND", "WHAT"],
      one.descriptors.map((descriptor) => [
        String(descriptor.fd),
        descriptor.kind,
        descriptor.path ?? socketText(descriptor),
      ]),
    ),
    renderTable(
      ["MEMORY", "", "KIND", "SAVED", "FILE"],
      one.memory.mappings.map(({ start, end, permissions, kind, savedBytes, path }) => [
        `${start}-${end}`,
        permissions,
        kind,
        savedBytes === 0 ? "" : bytesText(savedBytes),
        path ?? "",
      ]),
    ),
  ].join("\n");
}

function kindsText({ pages, ghosts, tmpfs, descriptions }: CheckpointInspection["sizes"]): string {
  const kinds = { "memory pages": pages, "files without a name": ghosts, tmpfs, descriptions };
  return Object.entries(kinds)
    .filter(([, bytes]) => bytes > 0)
    .map(([kind, bytes]) => `${kind} ${bytesText(bytes)}`)
    .join(", ");
}

function treeTable(processes: readonly Process[]): string {
  return renderTable(
    ["PID", "PROCESS", "UID", "STATE", "THREADS", "FILES", "SOCKETS", "SAVED MEMORY"],
    inTreeOrder(processes).map(({ process, depth }) => [
      String(process.pid),
      `${"  ".repeat(depth)}${process.name}`,
      String(process.uid ?? ""),
      process.state,
      String(process.threads),
      String(process.descriptors.length),
      String(process.descriptors.filter(({ socket }) => socket !== undefined).length),
      bytesText(process.memory.savedBytes),
    ]),
  );
}

/** Each process below its parent. One whose parent is not in the dump stands at the left, whatever its images claim. */
function inTreeOrder(processes: readonly Process[]): { process: Process; depth: number }[] {
  const pids = new Set(processes.map(({ pid }) => pid));
  const ordered: { process: Process; depth: number }[] = [];
  const seen = new Set<number>();
  const open = processes.filter(({ ppid }) => !pids.has(ppid)).map((process) => ({ process, depth: 0 }));
  const rest = processes.map((process) => ({ process, depth: 0 }));
  for (const stack of [open.reverse(), rest.reverse()])
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const { process, depth } = next;
      if (seen.has(process.pid)) continue;
      seen.add(process.pid);
      ordered.push(next);
      const children = processes.filter(({ ppid }) => ppid === process.pid);
      stack.push(...children.reverse().map((child) => ({ process: child, depth: depth + 1 })));
    }
  return ordered;
}

function socketText({ socket }: Process["descriptors"][number]): string {
  if (socket === undefined) return "";
  const { family, type, state, local, remote, peer } = socket;
  const ends = [local, remote === undefined ? undefined : `to ${remote}`, peer && `peer ${peer}`].filter(
    Boolean,
  );
  return [family, type, state, ...ends].join(" ");
}

function noProcess(name: string, pid: number): DrumsError {
  return new DrumsError({
    code: "NO_PROCESS",
    exitCode: EXIT.usage,
    what: `checkpoint ${name} has no process ${pid}`,
    hint: `\`drums checkpoint inspect ${name}\` lists them, by the pids that they have inside`,
  });
}
