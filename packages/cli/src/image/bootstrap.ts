import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
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
  await writeConfiguration(recipe, { scratch, signal });
  await runHostProgram([...CONTAINED, ...mmdebstrapArgv(recipe, root)], {
    signal,
    cwd: scratch,
    env: { DEBIAN_FRONTEND: "noninteractive", TMPDIR: scratch },
    onLine: (line) => {
      if (line.startsWith("I: ")) onDetail(line.slice(3));
    },
  });
  await emptyFolders(recipe, root);
  // mmdebstrap makes the folder for root alone; a session's user walks through it.
  await chmod(root, 0o755);
}

/** Files of the scratch folder, in which mmdebstrap and its hooks run. */
const FILES = {
  sources: "sources.list",
  aptOptions: "apt.conf",
  dpkgExcludes: "drums-excludes",
  dpkgBuild: "drums-build",
} as const;

async function writeConfiguration(
  { suite, emptyFolders }: ImageRecipe,
  { scratch, signal }: { scratch: string; signal: AbortSignal | undefined },
): Promise<void> {
  const put = (name: string, text: string) => writeFile(join(scratch, name), text);
  await put(FILES.sources, `${(await readSourceLines(suite, { signal })).join("\n")}\n`);
  await put(FILES.aptOptions, await readAptOptions({ signal }));
  await put(FILES.dpkgExcludes, emptyFolders.map((folder) => `path-exclude=${folder}/*\n`).join(""));
  // No fsync after each package: a build that is cut short is thrown away whole.
  await put(FILES.dpkgBuild, "force-unsafe-io\n");
}

/**
 * dpkg's options come in by a hook: given as --dpkgopt, a path-exclude makes mmdebstrap filter every archive
 * through a Python program, three times as slow as unpacking all and emptying the folders afterwards.
 * How this machine reaches its mirror, and how the build ran dpkg, is no part of the image.
 */
function mmdebstrapArgv(recipe: ImageRecipe, root: string): [string, ...string[]] {
  const dpkg = '"$1/etc/dpkg/dpkg.cfg.d"';
  return [
    "mmdebstrap",
    "--mode=root",
    "--variant=minbase",
    "--verbose",
    `--setup-hook=mkdir -p ${dpkg} && cp ${FILES.dpkgExcludes} ${FILES.dpkgBuild} ${dpkg}`,
    `--customize-hook=rm ${dpkg}/${FILES.dpkgBuild} "$1/etc/apt/apt.conf.d/99mmdebstrap"`,
    `--aptopt=${FILES.aptOptions}`,
    `--include=${recipe.packages.join(",")}`,
    recipe.suite,
    root,
    FILES.sources,
  ];
}

/** The first packages are unpacked before dpkg has its options. */
async function emptyFolders(recipe: ImageRecipe, root: string): Promise<void> {
  for (const folder of recipe.emptyFolders) {
    await rm(join(root, folder), { recursive: true, force: true });
    await mkdir(join(root, folder), { recursive: true });
  }
}
