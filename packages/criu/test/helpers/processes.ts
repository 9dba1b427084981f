import { readdirSync, readFileSync } from "node:fs";

/** Pids of the machine that see a mount of a folder's: what a half done restore would leave. */
export function processesOn(folder: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/mountinfo`, "utf8").includes(`${folder}/`);
      } catch {
        return false;
      }
    });
}
