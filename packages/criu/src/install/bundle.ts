import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, realpath, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { CriuError } from "../errors.js";
import { copyDebs, type FetchedDeb, fetchDebs, type PinnedDeb, type Progress } from "./debs.js";
import { bundleCriu, type Criu } from "./find.js";
import { DEFAULT_VERSION, type Pins, pinsFor } from "./pins.js";
import { type BundleRecord, readRecord, recordFiles, verifyRecord, writeRecord } from "./record.js";
import { compileShim, SHIM_FILE } from "./shim.js";

const LOADER = "ld-linux-x86-64.so.2";

/** Options of {@link installCriu}. */
export interface InstallOptions {
  /** The folder that holds `criu/<version>/`. */
  readonly home: string;
  /** One of {@link PINNED_VERSIONS}. Default {@link DEFAULT_VERSION}. */
  readonly version?: string;
  /** A folder with the pinned .deb files and a SHA256SUMS file, for a machine without network. */
  readonly debsFolder?: string;
  readonly onProgress?: (progress: Progress) => void;
}

/**
 * Installs a private CRIU: loader, libraries, binary, and the preload shim, under `<home>/criu/<version>/`.
 * Several versions stand side by side. An intact bundle is returned as it is; a damaged one is made anew.
 * The folder appears whole or not at all.
 * @throws {CriuError} `UNKNOWN_PINS`, `PIN_NOT_SERVED`, `PIN_HASH_MISMATCH`, `APT_FAILED`, `NO_DEBIAN_ARCHIVE`,
 * `PROGRAM_MISSING`, `UNPACK_FAILED`
 */
export async function installCriu(options: InstallOptions): Promise<Criu> {
  const pins = pinsFor(options.version ?? DEFAULT_VERSION);
  const folder = join(options.home, "criu", pins.criu);
  const present = await readRecord(folder);
  if (present !== undefined && (await verifyRecord(folder, present, { hash: true })) === undefined)
    return bundleCriu(folder, present);
  await mkdir(join(options.home, "criu"), { recursive: true });
  const work = await mkdtemp(join(options.home, "criu", `.new-${pins.criu}-`));
  try {
    const record = await buildBundle(work, pins, options);
    return (await place(join(work, "bundle"), folder))
      ? bundleCriu(folder, record)
      : await installCriu(options);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Puts a finished bundle in its place; false where another process has put one there at the same time. */
async function place(bundle: string, folder: string): Promise<boolean> {
  await rm(folder, { recursive: true, force: true });
  try {
    await rename(bundle, folder);
    return true;
  } catch (error) {
    if (/^(ENOTEMPTY|EEXIST)$/.test((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

async function buildBundle(work: string, pins: Pins, options: InstallOptions): Promise<BundleRecord> {
  const { onProgress = () => {}, debsFolder } = options;
  const packages = pins.packages.map(
    (pin): PinnedDeb => ({ ...pin, architecture: pins.architecture, suites: pins.suites }),
  );
  const target = join(work, "debs");
  const debs =
    debsFolder === undefined
      ? await fetchDebs({ packages, target, onProgress })
      : await copyDebs({ packages, target, debsFolder });
  onProgress({ step: "unpack", detail: `${debs.length} packages` });
  const tree = await unpack(debs, join(work, "tree"));
  const bundle = join(work, "bundle");
  await assemble(tree, bundle);
  await compileShim(join(bundle, SHIM_FILE)).catch(() => {
    onProgress({ step: "shim", detail: "no C compiler: dumps without CAP_SYS_RESOURCE will not work" });
  });
  const record: BundleRecord = {
    format: 1,
    version: pins.criu,
    packages: pins.packages,
    files: await recordFiles(bundle),
  };
  await writeRecord(bundle, record);
  return record;
}

/** dpkg-deb -x needs no dpkg database and runs no maintainer script. */
async function unpack(debs: readonly FetchedDeb[], tree: string): Promise<string> {
  await mkdir(tree, { recursive: true });
  for (const { path, name } of debs)
    await execa("dpkg-deb", ["-x", path, tree]).catch((cause: unknown) => {
      throw new CriuError("UNPACK_FAILED", `dpkg-deb could not unpack ${name}: ${String(cause)}`, {
        hint: "See that dpkg-deb is installed and that the disk has room",
        cause,
      });
    });
  return tree;
}

/** Loader, binary and exactly the libraries that the loader says the binary maps. */
async function assemble(tree: string, bundle: string): Promise<void> {
  await mkdir(join(bundle, "lib"), { recursive: true });
  const [libraries, loader] = await librariesOf(tree);
  await copyFile(loader, join(bundle, "ld.so"));
  await copyFile(join(tree, "usr/sbin/criu"), join(bundle, "criu.bin"));
  for (const [name, file] of libraries) await copyFile(file, join(bundle, "lib", name));
  await chmod(join(bundle, "ld.so"), 0o755);
  await chmod(join(bundle, "criu.bin"), 0o755);
}

async function librariesOf(tree: string): Promise<[Map<string, string>, string]> {
  const folder = await libraryFolder(tree);
  const loader = await realpath(join(folder, LOADER));
  const { stdout } = await execa(loader, ["--library-path", folder, "--list", join(tree, "usr/sbin/criu")]);
  const libraries = new Map<string, string>();
  for (const [, name = "", file = ""] of stdout.matchAll(/^\s*(\S+) => (\S+) \(0x/gm)) {
    if (name.includes("/")) continue; // the loader itself
    if (!file.startsWith(tree))
      throw new CriuError("UNPACK_FAILED", `${name} is not among the pinned packages (found ${file})`, {
        hint: "The pins lack a package that CRIU links to: refresh them",
        facts: { library: name },
      });
    libraries.set(name, await realpath(file));
  }
  return [libraries, loader];
}

async function libraryFolder(tree: string): Promise<string> {
  const folders = [join(tree, "usr/lib/x86_64-linux-gnu"), join(tree, "lib/x86_64-linux-gnu")];
  for (const folder of folders) if (existsSync(join(folder, LOADER))) return folder;
  throw new CriuError("UNPACK_FAILED", "The unpacked packages hold no dynamic loader", {
    hint: "The pins must name libc6",
  });
}
