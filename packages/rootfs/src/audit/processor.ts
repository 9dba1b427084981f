import { readFile } from "node:fs/promises";

/** Levels of the x86-64 psABI and the flags of /proc/cpuinfo that each asks for beyond the one below. */
const LEVELS: readonly (readonly [string, string])[] = [
  ["x86-64-v2", "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3"],
  ["x86-64-v3", "avx avx2 bmi1 bmi2 f16c fma abm movbe"],
  ["x86-64-v4", "avx512f avx512bw avx512cd avx512dq avx512vl"],
];

/** What the loader makes of the processor. */
export interface Processor {
  /** Folders below glibc-hwcaps that it looks into, best first. */
  readonly hwcaps: readonly string[];
  /** What $PLATFORM stands for. */
  readonly platform: string;
}

/**
 * The processor as glibc sees it, from /proc/cpuinfo: its x86-64 level, and the platform that glibc
 * calls "haswell" on Intel's from level 3 on (init_cpu_features in sysdeps/x86/cpu-features.c).
 */
export async function readProcessor({ proc = "/proc" }: { readonly proc?: string } = {}): Promise<Processor> {
  return parseProcessor(await readFile(`${proc}/cpuinfo`, "utf8"));
}

/** {@link readProcessor} of a text. Without x86 flags it is an aarch64 without hwcaps. */
export function parseProcessor(cpuinfo: string): Processor {
  const flags = /^flags\s*:\s*(.*)$/m.exec(cpuinfo)?.[1];
  if (flags === undefined) return { hwcaps: [], platform: "aarch64" };
  const has = new Set(flags.split(/\s+/));
  const hwcaps: string[] = [];
  for (const [level, wanted] of LEVELS) {
    if (!wanted.split(" ").every((flag) => has.has(flag))) break;
    hwcaps.unshift(level);
  }
  const intel = /^vendor_id\s*:\s*GenuineIntel$/m.test(cpuinfo);
  return { hwcaps, platform: intel && hwcaps.includes("x86-64-v3") ? "haswell" : "x86_64" };
}
