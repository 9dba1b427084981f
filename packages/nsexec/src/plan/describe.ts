import { createHash } from "node:crypto";
import type { FilterRule } from "../seccomp/compile.js";
import { SESSION_RULES, sessionFilter } from "../seccomp/session.js";
import type { LaunchPlan, MountStep } from "./schema.js";

/** Names, then what they come to. */
type Line = readonly [name: string, text: string];

const INDENT = "  ";

/**
 * A plan for a person to read, in the order in which it is carried out: every mount with its source, target
 * and options, then what PID 1 loses and what it becomes. Ends with a newline.
 */
export function describePlan(plan: LaunchPlan): string {
  const sections: Array<[title: string, lines: readonly Line[]]> = [
    ["on the host, in a private mount namespace", plan.hostMounts.map(stepLine)],
    [`new namespaces, with ${plan.root} as the root`, namespaceLines(plan)],
    ["inside the root, before the pivot", plan.insideMounts.map(stepLine)],
    ["then", surroundingLines(plan)],
    ["given up", confinementLines(plan)],
    ["PID 1", programLines(plan)],
  ];
  return sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `${title}\n${table(lines)}`)
    .join("\n");
}

function table(lines: readonly Line[]): string {
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines
    .map(([name, text]) => `${INDENT}${name.padEnd(width)}  ${text}`.trimEnd())
    .join("\n")
    .concat("\n");
}

function namespaceLines({ namespaces, idMap, timeOffsets }: LaunchPlan): Line[] {
  return [
    ["kinds", [...new Set(namespaces)].join(" ")],
    ...(idMap
      ? ([
          [
            "ids",
            `0–${idMap.size - 1} inside are ${idMap.base}–${idMap.base + idMap.size - 1} of the host, users and groups alike`,
          ],
        ] as const)
      : []),
    ...(timeOffsets
      ? ([
          [
            "clocks",
            `monotonic ${timeOffsets.monotonic ?? 0} s, boottime ${timeOffsets.boottime ?? 0} s ahead`,
          ],
        ] as const)
      : []),
  ];
}

function surroundingLines({ hostname, lo }: LaunchPlan): Line[] {
  return [
    ["host name", hostname],
    ["network", lo ? "lo alone, up" : "lo alone, down"],
    ["root", "pivot_root onto the root; the host's mounts are detached"],
    ["descriptors", "all closed"],
  ];
}

function confinementLines({
  pidMax,
  oomScoreAdj,
  limits = {},
  capabilities,
  seccomp,
  noNewPrivs,
}: LaunchPlan): Line[] {
  return [
    ...(pidMax === undefined ? [] : [["processes", `pids up to ${pidMax}`] as const]),
    ...(oomScoreAdj === undefined ? [] : [["memory", `killed before others, by ${oomScoreAdj}`] as const]),
    ...Object.entries(limits).map(
      ([name, { soft, hard }]): Line => [
        `limit ${name}`,
        soft === hard ? `${soft}` : `${soft}, at most ${hard}`,
      ],
    ),
    [
      "capabilities",
      capabilities ? `all but ${capabilities.join(" ") || "none"}` : "none: every one is kept",
    ],
    ["new privileges", noNewPrivs ? "for ever: setuid files give nothing" : "not: setuid files work"],
    ...filterLines(seccomp),
  ];
}

function filterLines(seccomp: Uint8Array | undefined): Line[] {
  if (seccomp === undefined) return [["system calls", "none"]];
  if (isSessionFilter(seccomp)) return SESSION_RULES.map(ruleLine);
  const sha256 = createHash("sha256").update(seccomp).digest("hex");
  return [["system calls", `by a filter of ${seccomp.length / 8} instructions, sha256 ${sha256}`]];
}

function isSessionFilter(seccomp: Uint8Array): boolean {
  return process.arch === "x64" && sessionFilter().equals(seccomp);
}

function ruleLine({ calls, errno, when }: FilterRule): Line {
  if (when === undefined) return [errno, calls.join(" ")];
  const value =
    "equals" in when ? `is 0x${when.equals.toString(16)}` : `has a bit of 0x${when.anyBitOf.toString(16)}`;
  return [errno, `${calls.join(" ")} where argument ${when.argument} ${value}`];
}

function programLines({ program, init = "/usr/lib/drums/drums-init", env = {} }: LaunchPlan): Line[] {
  if (program === undefined)
    return [
      ["init", init],
      ["environment", pairs(env)],
    ];
  const { uid = 0, gid = uid, groups = [] } = program;
  return [
    ["program", `${program.file} ${JSON.stringify(program.argv)}`],
    ["ids", `uid ${uid}, gid ${gid}, groups ${groups.join(" ") || "none"}`],
    ["folder", program.cwd ?? "/"],
    ["environment", pairs(program.env ?? {})],
  ];
}

function pairs(env: Readonly<Record<string, string>>): string {
  return (
    Object.entries(env)
      .map(([name, value]) => `${name}=${value}`)
      .join(" ") || "empty"
  );
}

function stepLine(step: MountStep): Line {
  switch (step.kind) {
    case "mount":
      return [step.fsType, `${step.target}${optionsText(step.options, step.data)}`];
    case "bind":
      return [
        step.recursive ? "rbind" : "bind",
        `${step.target} shows ${step.from === "root" ? "" : "the host's "}${step.source}${optionsText(step.options)}`,
      ];
    case "layer":
      return ["layer", `${step.target} is ${step.source} read-only, its owners shifted`];
    case "remount":
      return ["remount", `${step.target}${optionsText(step.options)}`];
    case "propagation":
      return ["propagation", `${step.target} ${step.recursive ? "and below " : ""}${step.mode}`];
    case "readOnly":
      return ["read-only", step.target];
    case "mask":
      return ["hidden", step.target];
    case "folder":
      return ["folder", `${step.path}${ownerText(step, 0o755)}`];
    case "node":
      return ["device", `${step.path} ${step.major}:${step.minor}${ownerText(step, 0o666)}`];
    case "link":
      return ["link", `${step.path} to ${step.target}`];
    case "file":
      return ["file", `${step.path}${ownerText(step, 0o644)} ${JSON.stringify(step.content)}`];
  }
}

function optionsText(flags: readonly string[] = [], data = ""): string {
  const options = [...flags, ...(data === "" ? [] : [data])].join(",");
  return options === "" ? "" : ` (${options})`;
}

interface Owned {
  readonly mode?: number | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

function ownerText({ mode, uid = 0, gid = 0 }: Owned, usual: number): string {
  return ` ${(mode ?? usual).toString(8).padStart(4, "0")} ${uid}:${gid}`;
}
