import { readdirSync, readlinkSync } from "node:fs";

/** Every pid namespace that some process of the machine is in: what a half done restore would add to. */
export function pidNamespaces(): Set<string> {
  const links = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readlinkSync(`/proc/${pid}/ns/pid`)];
      } catch {
        return [];
      }
    });
  return new Set(links);
}
