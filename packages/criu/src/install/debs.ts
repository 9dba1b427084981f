import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { CriuError } from "../errors.js";
import { type AptRoot, openAptRoot, type ServedPackage } from "./apt-root.js";
import { sha256File } from "./digest.js";

/** A Debian package by exact name, version and hash, with the suites that may serve it. */
export interface PinnedDeb {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  readonly sha256: string;
  /** Tried in order. */
  readonly suites: readonly string[];
}

/** A fetched package whose hash was checked. */
export interface FetchedDeb extends PinnedDeb {
  readonly path: string;
}

/** What a long step is at; for display only. */
export interface Progress {
  readonly step: string;
  readonly detail: string;
}

/** The file name apt gives a package: an epoch's colon is written `%3a`. */
export function debFileName(pin: { name: string; version: string; architecture: string }): string {
  return `${pin.name}_${pin.version.replaceAll(":", "%3a")}_${pin.architecture}.deb`;
}

/**
 * Brings pinned packages into a folder. What is there already with the right hash is kept.
 * Uses a private apt root, so the machine's own apt state stays as it is.
 * @param options.packages what to fetch
 * @param options.target folder for the .deb files, made where missing
 * @param options.onProgress told of each suite and each batch
 * @throws {CriuError} `PIN_NOT_SERVED`, `PIN_HASH_MISMATCH`, `APT_FAILED`, `NO_DEBIAN_ARCHIVE`, `PROGRAM_MISSING`
 */
export async function fetchDebs(options: {
  readonly packages: readonly PinnedDeb[];
  readonly target: string;
  readonly onProgress?: (progress: Progress) => void;
}): Promise<FetchedDeb[]> {
  const { packages, target, onProgress = () => {} } = options;
  await mkdir(target, { recursive: true });
  let wanted = await without(packages, target);
  let failure: unknown;
  for (const suite of suitesOf(wanted)) {
    const here = wanted.filter(({ suites }) => suites.includes(suite));
    if (here.length === 0) continue;
    onProgress({ step: "package list", detail: `${suite}, for ${here.length} packages` });
    await fetchFromSuite(here, { suite, target, onProgress }).catch((error: unknown) => {
      if (!(error instanceof CriuError && error.code === "APT_FAILED")) throw error;
      failure = error;
    });
    wanted = await without(wanted, target);
  }
  if (wanted.length > 0) throw failure ?? notServed(wanted);
  return packages.map((pin) => ({ ...pin, path: join(target, debFileName(pin)) }));
}

/**
 * What a suite serves of some packages today, for new pins.
 * @throws {CriuError} `PIN_NOT_SERVED` naming what is not served, `APT_FAILED`, `NO_DEBIAN_ARCHIVE`
 */
export async function resolvePins(options: {
  readonly names: readonly string[];
  readonly suite: string;
  readonly architecture: string;
}): Promise<ServedPackage[]> {
  const { names, suite, architecture } = options;
  const root = await openAptRoot(suite, { architecture });
  try {
    const served = await root.candidates(names);
    const missing = names.filter((name) => !served.some((one) => one.name === name));
    if (missing.length === 0) return served;
    const pins = missing.map((name) => ({ name, version: "any", architecture, sha256: "", suites: [suite] }));
    throw notServed(pins);
  } finally {
    await root.remove();
  }
}

async function fetchFromSuite(
  pins: readonly PinnedDeb[],
  options: { suite: string; target: string; onProgress: (progress: Progress) => void },
): Promise<void> {
  const root = await openAptRoot(options.suite, { architecture: architectureOf(pins) });
  const partial = await mkdtemp(join(options.target, ".partial-"));
  try {
    const served = await servedPins(root, pins);
    if (served.length === 0) return;
    options.onProgress({ step: "download", detail: `${served.length} packages from ${options.suite}` });
    await root.download(served, { target: partial });
    for (const pin of served) await keep(pin, { from: partial, target: options.target });
  } finally {
    await rm(partial, { recursive: true, force: true });
    await root.remove();
  }
}

/** The pins that a suite serves; one with another hash under the same version is an error, never a choice. */
async function servedPins(root: AptRoot, pins: readonly PinnedDeb[]): Promise<PinnedDeb[]> {
  const served: PinnedDeb[] = [];
  const hashes = await root.servedHashes(pins);
  for (const pin of pins) {
    const hash = hashes.get(`${pin.name}=${pin.version}`);
    if (hash !== undefined && hash !== pin.sha256)
      throw hashMismatch(pin, hash, "the archive's package list");
    if (hash !== undefined) served.push(pin);
  }
  return served;
}

async function keep(pin: PinnedDeb, { from, target }: { from: string; target: string }): Promise<void> {
  const file = join(from, debFileName(pin));
  await assertHash(pin, file);
  await rename(file, join(target, debFileName(pin)));
}

/**
 * Copies pinned packages from a folder that holds them beside a SHA256SUMS file, for a machine without network.
 * @throws {CriuError} `PIN_NOT_SERVED` where one is missing or not listed, `PIN_HASH_MISMATCH`
 */
export async function copyDebs(options: {
  readonly packages: readonly PinnedDeb[];
  readonly debsFolder: string;
  readonly target: string;
}): Promise<FetchedDeb[]> {
  const listed = parseSha256Sums(
    await readFile(join(options.debsFolder, "SHA256SUMS"), "utf8").catch(() => ""),
  );
  const missing = options.packages.filter((pin) => !listed.has(debFileName(pin)));
  if (missing.length > 0) throw notServed(missing, `${options.debsFolder}/SHA256SUMS`);
  await mkdir(options.target, { recursive: true });
  return Promise.all(
    options.packages.map(async (pin) => {
      const source = join(options.debsFolder, debFileName(pin));
      await assertHash(pin, source);
      const path = join(options.target, debFileName(pin));
      await copyFile(source, path);
      return { ...pin, path };
    }),
  );
}

/** Hash by file name of a `sha256sum` listing. */
export function parseSha256Sums(text: string): Map<string, string> {
  const rows = [...text.matchAll(/^([0-9a-f]{64}) [ *](.+)$/gm)];
  return new Map(rows.map(([, hash = "", name = ""]) => [basename(name), hash]));
}

/** @throws {CriuError} `PIN_HASH_MISMATCH` (also for a file that is missing) */
async function assertHash(pin: PinnedDeb, file: string): Promise<void> {
  const hash = await sha256File(file);
  if (hash !== pin.sha256) throw hashMismatch(pin, hash ?? "missing", file);
}

async function without(pins: readonly PinnedDeb[], target: string): Promise<PinnedDeb[]> {
  const hashes = await Promise.all(pins.map((pin) => sha256File(join(target, debFileName(pin)))));
  return pins.filter((pin, index) => hashes[index] !== pin.sha256);
}

function suitesOf(pins: readonly PinnedDeb[]): string[] {
  return [...new Set(pins.flatMap(({ suites }) => suites))];
}

/** The architecture whose package list holds all of these; packages for `all` are in every list. */
function architectureOf(pins: readonly PinnedDeb[]): string {
  const host = process.arch === "arm64" ? "arm64" : "amd64";
  return pins.find(({ architecture }) => architecture !== "all")?.architecture ?? host;
}

function hashMismatch(pin: PinnedDeb, found: string, where: string): CriuError {
  return new CriuError(
    "PIN_HASH_MISMATCH",
    `${pin.name} ${pin.version} has sha256 ${found} by ${where}, pinned is ${pin.sha256}`,
    {
      hint: "Do not use this file; compare the pin with Debian's own package list",
      facts: { package: pin.name, version: pin.version, expected: pin.sha256, found, where },
    },
  );
}

function notServed(pins: readonly PinnedDeb[], where?: string): CriuError {
  const names = pins.map(({ name, version }) => `${name}=${version}`).join(" ");
  const place = where ?? `Debian's ${suitesOf(pins).join(" or ")}`;
  return new CriuError("PIN_NOT_SERVED", `Not in ${place}: ${names}`, {
    hint:
      "The archive has moved on to newer versions: put the pinned .deb files and a SHA256SUMS file into a folder " +
      "and name it as debsFolder, or refresh the pins (npm run refresh-pins in packages/criu)",
    facts: { packages: names },
  });
}
