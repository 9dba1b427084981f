import { access, constants, readdir } from "node:fs/promises";
import { release } from "node:os";
import { delimiter, join } from "node:path";
import { execa } from "execa";
import { CriuError } from "../errors.js";
import { sha256File } from "./digest.js";
import { DEFAULT_VERSION } from "./pins.js";
import { type BundleRecord, readRecord, recordDigest, verifyRecord } from "./record.js";
import { SHIM_FILE } from "./shim.js";
import { assertNotKnownUnusable } from "./unusable.js";
import { compareVersions } from "./version.js";

/** The oldest CRIU that was tried with this project's own dumps and restores; older ones are refused. */
export const OLDEST_VERSION = "4.1.1";

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
  /** A bundle of just this version. Default: that of {@link DEFAULT_VERSION} where there is one, else the newest. */
  readonly version?: string;
  /** The kernel's release, against which a version is checked. Default: that of this machine. */
  readonly kernel?: string;
}

/**
 * Finds an installed CRIU: a bundle, else a system one that is new enough. Installs nothing.
 * @throws {CriuError} `CRIU_MISSING`, `CRIU_TOO_OLD`, `BUNDLE_DAMAGED`, and `CRIU_UNUSABLE` for a version that is
 * known not to work on this kernel
 */
export async function findCriu(options: FindOptions): Promise<Criu> {
  const { kernel = release() } = options;
  const bundle = await preferredBundle(options);
  if (bundle !== undefined) return usableOn(kernel, bundle);
  const system =
    options.system === false || options.version !== undefined ? undefined : await systemCriu(kernel);
  if (system !== undefined) return system;
  const what = options.version === undefined ? "CRIU" : `CRIU ${options.version}`;
  throw new CriuError(
    "CRIU_MISSING",
    `No ${what} under ${join(options.home, "criu")} and none usable on PATH`,
    {
      hint: "Install the private bundle with installCriu (it needs apt and the network, or a folder of .deb files)",
      facts: { home: options.home },
    },
  );
}

function usableOn(kernel: string, criu: Criu): Criu {
  assertNotKnownUnusable(criu.version, { kernel });
  return criu;
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

async function preferredBundle({ home, version }: FindOptions): Promise<Criu | undefined> {
  const names = await readdir(join(home, "criu")).catch(() => []);
  const versions = names.filter((name) => /^\d/.test(name) && (version === undefined || name === version));
  for (const name of versions.sort(byPreference)) {
    const folder = join(home, "criu", name);
    const record = await readRecord(folder);
    if (record === undefined) continue;
    const damaged = await verifyRecord(folder, record, { hash: false });
    if (damaged !== undefined) throw bundleDamaged(folder, damaged);
    return bundleCriu(folder, record);
  }
  return undefined;
}

/** The default version first, then the newest: a newer bundle beside it is there to be asked for by name. */
function byPreference(a: string, b: string): number {
  if (a === DEFAULT_VERSION || b === DEFAULT_VERSION) return a === DEFAULT_VERSION ? -1 : 1;
  return compareVersions(b, a);
}

/** @throws {CriuError} `CRIU_TOO_OLD`, `CRIU_UNUSABLE` */
async function systemCriu(kernel: string): Promise<Criu | undefined> {
  const file = await onPath("criu");
  if (file === undefined) return undefined;
  const { stdout } = await execa(file, ["--version"]);
  const version = parseVersion(stdout);
  assertNotKnownUnusable(version, { kernel });
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
