import { readText } from "./proc.js";
import { type Finding, finding } from "./rules.js";
import type { Snapshot } from "./snapshot.js";

/** A shared mapping of a memfd that is not writable, in a line of maps or smaps (proc(5)). */
const SHARED_READ_ONLY = /^[0-9a-f]+-[0-9a-f]+ r-[x-]s .*(\/memfd:.*)$/;

/**
 * Finds shared mappings of memfds that cannot become writable any more (no `mw` in VmFlags): so F_SEAL_WRITE shows,
 * and a mapping made through a read-only descriptor alike. Only processes that hold a memfd are looked at: smaps
 * makes the kernel walk the page tables.
 */
export function checkMemory({ tree, proc }: Snapshot): Finding[] {
  return tree
    .filter(({ descriptors }) => descriptors.some(({ target }) => target.startsWith("/memfd:")))
    .filter(({ pid }) => lines(`${proc}/${pid}/maps`).some((line) => SHARED_READ_ONLY.test(line)))
    .flatMap((task) =>
      fixedMappings(lines(`${proc}/${task.pid}/smaps`)).map((name) =>
        finding("memfd-sealed-mapped", name, task),
      ),
    );
}

function fixedMappings(smaps: readonly string[]): string[] {
  const found = new Set<string>();
  let current: string | undefined;
  for (const line of smaps) {
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) current = SHARED_READ_ONLY.exec(line)?.[1];
    else if (current !== undefined && line.startsWith("VmFlags:") && !/ mw\b/.test(line)) found.add(current);
  }
  return [...found];
}

function lines(path: string): string[] {
  return (readText(path) ?? "").split("\n");
}
