import { readFileSync } from "node:fs";

/** A file of the package's `stubs` folder, which lies beside `src` and `dist` alike. */
export function stubFile(name: string): string {
  return readFileSync(new URL(`../stubs/${name}`, import.meta.url), "utf8");
}
