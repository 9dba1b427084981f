import { linesOf, malformed, type Pid, type ProcOptions, readProcFile, toInteger } from "./read.js";

/** The four ids of one kind that a process has (credentials(7)). */
export interface IdSet {
  readonly real: number;
  readonly effective: number;
  readonly saved: number;
  readonly fs: number;
}

/** The fields of /proc/PID/status that are used here; ids as the reader's own user namespace sees them. */
export interface ProcessStatus {
  readonly name: string;
  readonly pid: number;
  readonly ppid: number;
  /** One letter: R, S, D, T, t, Z, X, I. */
  readonly state: string;
  /** The tracer's pid, 0 for none. */
  readonly tracerPid: number;
  readonly uids: IdSet;
  readonly gids: IdSet;
  readonly groups: readonly number[];
  /** The pid in each pid namespace from the reader's to the innermost. */
  readonly nspid: readonly number[];
  readonly threads: number;
  readonly capInh: bigint;
  readonly capPrm: bigint;
  readonly capEff: bigint;
  readonly capBnd: bigint;
  readonly capAmb: bigint;
  readonly noNewPrivs: boolean;
  /** 0 none, 1 strict, 2 filter. */
  readonly seccomp: number;
  /** Resident memory in KiB; kernel threads and zombies have none. */
  readonly vmRssKib?: number;
}

/** Parses the text of a status file. @throws NsexecError code PROC_FORMAT */
export function parseStatus(text: string): ProcessStatus {
  const field = fieldReader(text);
  const rss = field.optional("VmRSS");
  return {
    name: unescapeName(field.required("Name")),
    pid: field.integer("Pid"),
    ppid: field.integer("PPid"),
    state: field.required("State").slice(0, 1),
    tracerPid: field.integer("TracerPid"),
    uids: toIdSet(field.integers("Uid"), "Uid"),
    gids: toIdSet(field.integers("Gid"), "Gid"),
    groups: field.integers("Groups"),
    nspid: field.integers("NSpid"),
    threads: field.integer("Threads"),
    capInh: field.mask("CapInh"),
    capPrm: field.mask("CapPrm"),
    capEff: field.mask("CapEff"),
    capBnd: field.mask("CapBnd"),
    capAmb: field.mask("CapAmb"),
    noNewPrivs: field.integer("NoNewPrivs") === 1,
    seccomp: field.integer("Seccomp"),
    ...(rss === undefined ? {} : { vmRssKib: toInteger(rss.split(" ")[0], "status", rss) }),
  };
}

/** Reads /proc/PID/status. */
export async function readStatus(pid: Pid, options: ProcOptions = {}): Promise<ProcessStatus> {
  return parseStatus(await readProcFile(pid, "status", options));
}

function fieldReader(text: string) {
  const fields = new Map<string, string>();
  for (const line of linesOf(text)) {
    const colon = line.indexOf(":");
    // The first wins: the name is the first line, and cannot hold a newline unescaped.
    if (colon > 0 && !fields.has(line.slice(0, colon)))
      fields.set(line.slice(0, colon), line.slice(colon + 2).trimEnd());
  }
  const required = (key: string) => {
    const value = fields.get(key);
    if (value === undefined) throw malformed("status", `${key}: (missing)`);
    return value;
  };
  return {
    required,
    optional: (key: string) => fields.get(key)?.trim(),
    integer: (key: string) => toInteger(required(key), "status", `${key}: ${required(key)}`),
    integers: (key: string) =>
      required(key)
        .split(/\s+/)
        .filter((part) => part !== "")
        .map((part) => toInteger(part, "status", `${key}: ${required(key)}`)),
    mask: (key: string) => {
      if (!/^[0-9a-f]{1,16}$/.test(required(key))) throw malformed("status", `${key}: ${required(key)}`);
      return BigInt(`0x${required(key)}`);
    },
  };
}

function toIdSet(ids: readonly number[], key: string): IdSet {
  const [real, effective, saved, fs] = ids;
  if (real === undefined || effective === undefined || saved === undefined || fs === undefined)
    throw malformed("status", `${key}: ${ids.join(" ")}`);
  return { real, effective, saved, fs };
}

// The kernel escapes newline and backslash in a name here (proc_task_name), and only here.
function unescapeName(name: string): string {
  return name.replace(/\\(n|\\)/g, (_, escaped: string) => (escaped === "n" ? "\n" : "\\"));
}
