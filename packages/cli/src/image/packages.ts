import { join } from "node:path";
import { runHostProgram } from "./host-program.js";

/** A package installed in a root. */
export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/** Parses lines of `NAME<tab>VERSION<tab>ARCHITECTURE`; other lines are passed over. */
export function parsePackages(text: string): InstalledPackage[] {
  return text.split("\n").flatMap((line) => {
    const [name, version, architecture] = line.split("\t");
    if (name === undefined || version === undefined || architecture === undefined) return [];
    return [{ name, version, architecture }];
  });
}

/** What dpkg's database in a root lists, by name. */
export async function readPackages(
  root: string,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<InstalledPackage[]> {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query's own placeholders
  const format = "${Package}\\t${Version}\\t${Architecture}\\n";
  const database = `--admindir=${join(root, "var/lib/dpkg")}`;
  const { stdout } = await runHostProgram(["dpkg-query", database, "--show", `--showformat=${format}`], {
    signal,
  });
  return parsePackages(stdout);
}
