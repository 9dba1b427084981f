import { access, constants, readdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { execa } from "execa";
import { CriuError } from "../errors.js";
import { sha256File } from "./digest.js";
import { type BundleRecord, readRecord, recordDigest, verifyRecord } from "./record.js";
import { SHIM_FILE } from "./shim.js";
import { compareVersions } from "./version.js";

/** The oldest CRIU that passes this project's own dump and restore; older ones are refused. */
export const OLDEST_VERSION = "4.2";

/** A CRIU that can be called. */
export interface Criu {
  readonly version: string;
  /** The program to execute: the bundle's loader, or the system's criu. */
  readonly file: string;
  /** Arguments before CRIU's own (loader options and the binary); empty for a system CRIU. */
  readonly argv: readonly string[];
  readonly source: "bundle" | "system";
  /** sha256 that stands for the binary and all that it is run with. */
  readonly digest: string;
  /** The preload shim for dumps without CAP_SYS_RESOURCE, where the bundle has one. */
  readonly shim?: string;
}

/** Options of {@link findCriu}. */
export interface FindOptions {
  /** The folder that holds `criu/<version>/`. */
  readonly home: string;
  /** Also accept a criu on PATH where there is no bundle. Default true. */
  readonly system?: boolean;
  /** A bundle of just this version. Default: the newest. */
  readonly version?: string;
}

/**
 * Finds an installed CRIU: the newest intact bundle, else a system one that is new enough. Installs nothing.
 * @throws {CriuError} `CRIU_MISSING`, `CRIU_TOO_OLD`, `BUNDLE_DAMAGED`
 */
export async function findCriu(options: FindOptions): Promise<Criu> {
  const bundle = await newestBundle(options);
  if (bundle !== undefined) return bundle;
  const system = options.system === false || options.version !== undefined ? undefined : await systemCriu();
  if (system !== undefined) return system;
  throw new CriuError("CRIU_MISSING", `No CRIU under ${join(options.home, "criu")} and none usable on PATH`, {
    hint: "Install the private bundle with installCriu (it needs apt and the network, or a folder of .deb files)",
    facts: { home: options.home },
  });
}

/** The call of an intact bundle. `--library-path` and `--preload` hold for this one program, not for its children. */
export function bundleCriu(folder: string, record: BundleRecord): Criu {
  const hasShim = record.files.some(({ path }) => path === SHIM_FILE);
  return {
    version: record.version,
    file: join(folder, "ld.so"),
    argv: ["--library-path", join(folder, "lib"), join(folder, "criu.bin")],
    source: "bundle",
    digest: recordDigest(record),
    ...(hasShim ? { shim: join(folder, SHIM_FILE) } : {}),
  };
}

/** The same CRIU, run with the preload shim. A system CRIU is run through the environment instead. */
export function withShim(criu: Criu): Criu {
  return criu.shim === undefined ? criu : { ...criu, argv: ["--preload", criu.shim, ...criu.argv] };
}

async function newestBundle({ home, version }: FindOptions): Promise<Criu | undefined> {
  const names = await readdir(join(home, "criu")).catch(() => []);
  const versions = names.filter((name) => /^\d/.test(name) && (version === undefined || name === version));
  for (const name of versions.sort((a, b) => compareVersions(b, a))) {
    const folder = join(home, "criu", name);
    const record = await readRecord(folder);
    if (record === undefined) continue;
    const damaged = await verifyRecord(folder, record, { hash: false });
    if (damaged !== undefined) throw bundleDamaged(folder, damaged);
    return bundleCriu(folder, record);
  }
  return undefined;
}

/** @throws {CriuError} `CRIU_TOO_OLD` */
async function systemCriu(): Promise<Criu | undefined> {
  const file = await onPath("criu");
  if (file === undefined) return undefined;
  const { stdout } = await execa(file, ["--version"]);
  const version = parseVersion(stdout);
  if (compareVersions(version, OLDEST_VERSION) < 0) throw tooOld(file, version);
  return { version, file, argv: [], source: "system", digest: (await sha256File(file)) ?? "" };
}

/** The version in the output of `criu --version`, or "0". */
export function parseVersion(output: string): string {
  return /^Version:\s*(\d+(?:\.\d+)*)/m.exec(output)?.[1] ?? "0";
}

async function onPath(program: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const file = join(folder, program);
    const usable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return file;
  }
  return undefined;
}

function tooOld(file: string, version: string): CriuError {
  return new CriuError("CRIU_TOO_OLD", `${file} is CRIU ${version}; ${OLDEST_VERSION} or newer is needed`, {
    hint: "Install the private bundle beside it with installCriu; the system's own stays as it is",
    facts: { file, version, needed: OLDEST_VERSION },
  });
}

function bundleDamaged(folder: string, file: string): CriuError {
  return new CriuError("BUNDLE_DAMAGED", `${join(folder, file)} is not as it was installed`, {
    hint: "Run installCriu again: it replaces a damaged bundle",
    facts: { folder, file },
  });
}
