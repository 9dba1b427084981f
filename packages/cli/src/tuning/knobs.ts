import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A setting of the kernel, below /sys/kernel. */
export interface Knob {
  readonly file: string;
  readonly value: string;
}

/** What can be tuned. */
export type TuningKind = keyof typeof KNOBS;

/** In the order in which they are set; they are put back in the opposite one. */
export const KNOBS = {
  /** Memory is handed out in pieces of 64 KiB: sixteen times fewer page faults while a restore copies. */
  "page-size": [{ file: "mm/transparent_hugepage/hugepages-64kB/enabled", value: "always" }],
  /** ksmd looks at so many pages at once that siblings are merged while they are being made. */
  ksm: [
    { file: "mm/ksm/sleep_millisecs", value: "10" },
    { file: "mm/ksm/pages_to_scan", value: "100000" },
    { file: "mm/ksm/run", value: "1" },
  ],
} as const satisfies Readonly<Record<string, readonly Knob[]>>;

/** Where knobs lie. */
export interface SysOptions {
  /** Default "/sys/kernel". */
  readonly sys?: string;
}

/** What a knob stands at; of a choice such as `always [madvise] never` the one in brackets. */
export async function readKnob(file: string, { sys = "/sys/kernel" }: SysOptions = {}): Promise<string> {
  const text = (await readFile(join(sys, file), "utf8")).trim();
  return /\[([^\]]+)\]/.exec(text)?.[1] ?? text;
}

/** Turns a knob. */
export async function writeKnob(
  { file, value }: Knob,
  { sys = "/sys/kernel" }: SysOptions = {},
): Promise<void> {
  await writeFile(join(sys, file), value);
}

/** Whether this kernel has the knob. */
export async function hasKnob(file: string, { sys = "/sys/kernel" }: SysOptions = {}): Promise<boolean> {
  return access(join(sys, file)).then(
    () => true,
    () => false,
  );
}
