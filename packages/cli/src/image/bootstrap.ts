import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ImageRecipe } from "../recipes/types.js";
import { readAptOptions, readSourceLines } from "./apt-sources.js";
import { runHostProgram } from "./host-program.js";

export interface BootstrapOptions {
  /** An empty folder that becomes the root filesystem. */
  readonly root: string;
  /** Folder for the files that only the bootstrap needs. */
  readonly scratch: string;
  readonly signal?: AbortSignal | undefined;
  /** Told what mmdebstrap is at. */
  readonly onDetail?: ((detail: string) => void) | undefined;
}

/**
 * mmdebstrap mounts /proc and /dev into the root that it makes and starts daemons' scripts there.
 * In namespaces of its own all of that ends with it, however it ends.
 */
const CONTAINED = [
  "unshare",
  ...["--mount", "--propagation", "private"],
  ...["--pid", "--mount-proc", "--fork", "--kill-child=KILL"],
] as const;

/**
 * Makes a Debian root from the machine's own mirror with its own keyring (mmdebstrap(1)).
 * @throws DrumsError PROGRAM_MISSING, PROGRAM_FAILED, NO_DEBIAN_MIRROR, INTERRUPTED
 */
export async function bootstrap(recipe: ImageRecipe, options: BootstrapOptions): Promise<void> {
  const { root, scratch, signal, onDetail = () => {} } = options;
  const sources = join(scratch, "sources.list");
  const aptOptions = join(scratch, "apt.conf");
  await writeFile(sources, `${(await readSourceLines(recipe.suite, { signal })).join("\n")}\n`);
  await writeFile(aptOptions, await readAptOptions({ signal }));
  await runHostProgram([...CONTAINED, ...mmdebstrapArgv(recipe, { root, sources, aptOptions })], {
    signal,
    cwd: scratch,
    env: { DEBIAN_FRONTEND: "noninteractive", TMPDIR: scratch },
    onLine: (line) => {
      if (line.startsWith("I: ")) onDetail(line.slice(3));
    },
  });
  // mmdebstrap makes the folder for root alone; a session's user walks through it.
  await chmod(root, 0o755);
}

function mmdebstrapArgv(
  recipe: ImageRecipe,
  { root, sources, aptOptions }: { root: string; sources: string; aptOptions: string },
): [string, ...string[]] {
  return [
    "mmdebstrap",
    "--mode=root",
    "--variant=minbase",
    "--verbose",
    ...recipe.pathExclude.map((pattern) => `--dpkgopt=path-exclude=${pattern}`),
    `--aptopt=${aptOptions}`,
    // How this machine reaches its mirror is no part of the image.
    '--customize-hook=rm "$1/etc/apt/apt.conf.d/99mmdebstrap"',
    `--include=${recipe.packages.join(",")}`,
    recipe.suite,
    root,
    sources,
  ];
}
