import { readFile } from "node:fs/promises";
import { cpus, release, totalmem, version } from "node:os";
import { readHierarchy } from "@drums/cgroup2";
import { readNamespaces } from "@drums/nsexec/proc";
import { execa } from "execa";
import type { RecordInput } from "../evidence/records.js";

/** Programs of the host that a run calls, with the argument that makes each say its version. */
const PROGRAMS = {
  node: "--version",
  "qemu-storage-daemon": "--version",
  "qemu-img": "--version",
  "dpkg-deb": "--version",
  mount: "--version",
  cp: "--version",
  ip: "-V",
  tar: "--version",
  gzip: "--version",
} as const;

/** The machine under a run, for host.json. */
export async function readHostFacts(): Promise<RecordInput<"host.json">> {
  const [first] = cpus();
  return {
    kernel: { release: release(), version: version(), machine: process.arch },
    cpus: cpus().length,
    cpuModel: first?.model ?? "unknown",
    memoryBytes: totalmem(),
    osRelease: parseOsRelease(await readFile("/etc/os-release", "utf8")),
    programs: await Promise.all(Object.entries(PROGRAMS).map(([name, flag]) => readProgram(name, flag))),
    namespaces: await readNamespaces("self"),
    cgroupMode: (await readHierarchy()).mode,
    clock: { at: new Date().toISOString(), zone: Intl.DateTimeFormat().resolvedOptions().timeZone },
  };
}

/** Key and value lines of os-release(5), quotes taken off. */
export function parseOsRelease(text: string): Record<string, string> {
  const pairs = text.split("\n").map((line) => /^([A-Z0-9_]+)=(.*)$/.exec(line));
  return Object.fromEntries(
    pairs.flatMap((match) =>
      match ? [[match[1] ?? "", (match[2] ?? "").replace(/^(["'])(.*)\1$/, "$2")]] : [],
    ),
  );
}

async function readProgram(name: string, flag: string) {
  const found = await execa("sh", ["-c", 'command -v "$1"', "sh", name], { reject: false });
  if (found.exitCode !== 0) return { name, path: null, version: null };
  const said = await execa(name, [flag], { reject: false, all: true, timeout: 10_000 });
  return { name, path: found.stdout, version: said.all?.split("\n")[0] ?? null };
}
