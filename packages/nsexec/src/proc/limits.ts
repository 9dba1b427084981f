import { linesOf, malformed, type Pid, type ProcOptions, readProcFile } from "./read.js";

/** One resource limit; undefined means unlimited. */
export interface ResourceLimit {
  readonly soft: bigint | undefined;
  readonly hard: bigint | undefined;
  /** As the kernel names it: "bytes", "seconds", "us", "processes" …; empty where it names none. */
  readonly unit: string;
}

/** Parses the text of /proc/PID/limits, by the kernel's names ("Max open files"). @throws NsexecError code PROC_FORMAT */
export function parseLimits(text: string): Map<string, ResourceLimit> {
  const [header, ...lines] = linesOf(text);
  if (!header?.startsWith("Limit ")) throw malformed("limits", header ?? "");
  return new Map(lines.map(parseLine));
}

/** Reads /proc/PID/limits. */
export async function readLimits(pid: Pid, options: ProcOptions = {}): Promise<Map<string, ResourceLimit>> {
  return parseLimits(await readProcFile(pid, "limits", options));
}

function parseLine(line: string): [string, ResourceLimit] {
  const match = /^(Max .+?)\s+(\d+|unlimited)\s+(\d+|unlimited)\s*(\S*)\s*$/.exec(line);
  const [, name, soft, hard, unit = ""] = match ?? [];
  if (name === undefined || soft === undefined || hard === undefined) throw malformed("limits", line);
  return [name, { soft: toLimit(soft), hard: toLimit(hard), unit }];
}

const toLimit = (text: string) => (text === "unlimited" ? undefined : BigInt(text));
