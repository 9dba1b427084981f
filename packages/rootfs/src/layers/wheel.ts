import { createHash } from "node:crypto";
import { RootfsError } from "../errors.js";
import { readZip, type ZipEntry } from "./zip.js";

/** A wheel's content, checked. */
export interface Wheel {
  /** "name version". */
  readonly name: string;
  /** Relative to site-packages. */
  readonly files: readonly { readonly path: string; readonly content: Buffer; readonly mode: number }[];
  /** Console scripts by name. */
  readonly scripts: ReadonlyMap<string, { readonly module: string; readonly object: string }>;
}

/**
 * Reads a wheel (the binary distribution format, PEP 427) for a Python: its name's tags must fit, every file
 * must be in its RECORD with the right hash, and nothing of it may lie outside of site-packages.
 *
 * @param options.file     its file name, which carries the tags
 * @param options.version  of the Python that it is for: "3.11"
 * @throws RootfsError WHEEL_UNREADABLE, WHEEL_UNSUITABLE
 */
export function readWheel(
  archive: Buffer,
  { file, version }: { readonly file: string; readonly version: string },
): Wheel {
  const name = checkedName(file, version);
  const entries = readZip(archive).filter((entry) => !entry.name.endsWith("/"));
  for (const entry of entries) assertPlain(entry, file);
  const info = `${name.replace(" ", "-")}.dist-info`;
  const hashes = recordOf(entries, `${info}/RECORD`, file);
  const files = entries.map((entry) => {
    const content = entry.content();
    if (!entry.name.startsWith(`${info}/RECORD`)) assertRecorded(entry.name, content, hashes, file);
    return { path: entry.name, content, mode: (entry.mode & 0o111) === 0 ? 0o644 : 0o755 };
  });
  const points = files.find(({ path }) => path === `${info}/entry_points.txt`)?.content.toString() ?? "";
  return { name, files, scripts: consoleScripts(points) };
}

/** NAME-VERSION(-BUILD)-PYTHON-ABI-PLATFORM.whl */
function checkedName(file: string, version: string): string {
  const parts = file.replace(/\.whl$/, "").split("-");
  const [name, release] = parts;
  const [pythons = "", abis = "", platforms = ""] = parts.slice(-3);
  if (parts.length < 5 || parts.length > 6 || !file.endsWith(".whl"))
    throw unsuitable(file, "its name is not that of a wheel");
  const compiled = `cp${version.replace(".", "")}`;
  const fits =
    pythons
      .split(".")
      .some((tag) => tag === "py3" || tag === compiled || tag === `py${version.replace(".", "")}`) ||
    (abis === "abi3" &&
      /^cp3\d+$/.test(pythons) &&
      Number(pythons.slice(3)) <= Number(version.split(".")[1]));
  if (!fits) throw unsuitable(file, `it is for ${pythons}, the root's Python is ${version}`);
  const machine = process.arch === "arm64" ? "aarch64" : "x86_64";
  if (!platforms.split(".").some((tag) => tag === "any" || (/linux/.test(tag) && tag.endsWith(machine))))
    throw unsuitable(file, `it is for ${platforms}, this machine is ${machine}`);
  return `${name} ${release}`;
}

function assertPlain({ name, special }: ZipEntry, file: string): void {
  if (special) throw unsuitable(file, `${name} is neither a file nor a folder`);
  if (name.startsWith("/") || name.split("/").includes("..") || /[\0\\]/.test(name))
    throw unsuitable(file, `${JSON.stringify(name)} leads out of site-packages`);
  if (/^[^/]+\.data\//.test(name))
    throw unsuitable(file, `${name} belongs outside of site-packages, which is not done here`);
}

/** Rows of "path,sha256=base64url,size"; a path with a comma is quoted. */
function recordOf(entries: readonly ZipEntry[], path: string, file: string): ReadonlyMap<string, string> {
  const record = entries.find(({ name }) => name === path);
  if (!record) throw unsuitable(file, `it has no ${path}`);
  const hashes = new Map<string, string>();
  for (const line of record.content().toString().split(/\r?\n/)) {
    const match = /^(?:"((?:[^"]|"")*)"|([^,]*)),sha256=([\w-]+)=*,/.exec(line);
    if (match?.[3]) hashes.set((match[1] ?? match[2] ?? "").replaceAll('""', '"'), match[3]);
  }
  return hashes;
}

function assertRecorded(
  name: string,
  content: Buffer,
  hashes: ReadonlyMap<string, string>,
  file: string,
): void {
  const found = createHash("sha256").update(content).digest("base64url");
  const expected = hashes.get(name);
  if (expected === found) return;
  throw unsuitable(
    file,
    expected === undefined ? `its RECORD has no hash of ${name}` : `${name} is not what its RECORD says`,
  );
}

/** The `console_scripts` group of entry_points.txt, extras left out. */
export function consoleScripts(text: string): Map<string, { module: string; object: string }> {
  const scripts = new Map<string, { module: string; object: string }>();
  let group = "";
  for (const line of text.split("\n").map((whole) => whole.trim())) {
    group = /^\[(.*)\]$/.exec(line)?.[1]?.trim() ?? group;
    const match = /^([\w.-]+)\s*=\s*([\w.]+)\s*:\s*([\w.]+)/.exec(line);
    if (group === "console_scripts" && match?.[1] && match[2] && match[3])
      scripts.set(match[1], { module: match[2], object: match[3] });
  }
  return scripts;
}

function unsuitable(file: string, why: string): RootfsError {
  return new RootfsError("WHEEL_UNSUITABLE", `${file} cannot be put into a layer: ${why}`, {
    path: file,
    hint: "Give a wheel for the root's Python and this machine, or build one from its source.",
  });
}
