import { readdir, readFile } from "node:fs/promises";
import { posix } from "node:path";
import { DbusError } from "../errors.js";
import { checkElement, checkRoot, yes } from "./check.js";
import { type ConfigElement, malformed, parseConfig } from "./parse.js";

/** Where a configuration is read from. Paths are absolute and as the configuration names them. */
export interface ConfigReader {
  /**
   * The content of a file, or undefined where there is none. For an image the caller resolves the path inside the
   * image's root (RESOLVE_IN_ROOT): links in it must not lead to the host's files.
   */
  readFile(path: string): Promise<string | undefined>;
  /** The names in a folder; none, or undefined, where it is not there. */
  listDir(path: string): Promise<readonly string[] | undefined>;
}

/** What {@link flattenConfig} is given. */
export interface FlattenSource extends ConfigReader {
  /** The main file, such as `/usr/share/dbus-1/system.conf`. */
  readonly path: string;
}

/** Options of {@link flattenConfig}. */
export interface FlattenOptions {
  /**
   * The folder of the SELinux policy. Default none: SELinux counts as off, and includes with
   * `if_selinux_enabled="yes"` are passed over, as dbus-daemon does.
   */
  readonly selinuxRoot?: string;
}

/** A configuration without includes and without what starts or detaches anything. */
export interface FlatConfig {
  /** What is kept: policies, limits, authentication and the like, in the order dbus-daemon would load them. */
  readonly elements: readonly ConfigElement[];
  /** What was left out of it, and is set by {@link writeConfig} or has no place in a private bus. */
  readonly dropped: readonly ConfigElement[];
  /** Every file that was read, in order. */
  readonly sources: readonly string[];
  /** Files of an includedir that dbus-daemon would log and pass over, and why. */
  readonly skipped: readonly { readonly file: string; readonly reason: string }[];
}

/**
 * Activation (servicedirs, servicehelper), detaching (fork, keep_umask, pidfile), the change of user and the
 * system's log have no place in a private bus; type and listen are set anew.
 */
const DROPPED = new Set(
  `fork keep_umask listen pidfile servicedir servicehelper standard_session_servicedirs
  standard_system_servicedirs syslog type user`.split(/\s+/),
);

const MAX_DEPTH = 16;
const MAX_FILES = 4096;
const MAX_FILE_BYTES = 1 << 20;

/** What grows while files are read. */
interface Flattening {
  readonly source: FlattenSource;
  readonly options: FlattenOptions;
  readonly sources: string[];
  readonly skipped: { file: string; reason: string }[];
  files: number;
}

/**
 * Reads a bus configuration with all it includes, as dbus-daemon does: relative names from the including file,
 * an includedir's `*.conf` (sorted by name here, where dbus-daemon leaves the order open), a wrong file in an
 * includedir passed over. Every policy and limit is kept in order.
 *
 * @throws DbusError `CONFIG_MISSING`, `CONFIG_MALFORMED`, `CONFIG_LOOP`, `CONFIG_TOO_LARGE`
 */
export async function flattenConfig(
  source: FlattenSource,
  options: FlattenOptions = {},
): Promise<FlatConfig> {
  const state: Flattening = { source, options, sources: [], skipped: [], files: 0 };
  const text = await readBounded(state, source.path);
  if (text === undefined) throw missing(source.path);
  const all = await flattenFile(state, source.path, text, []);
  return {
    elements: all.filter(({ name }) => !DROPPED.has(name)),
    dropped: all.filter(({ name }) => DROPPED.has(name)),
    sources: state.sources,
    skipped: state.skipped,
  };
}

/**
 * Flattens a configuration of this machine itself. Not for the files of an image: their links would lead to the
 * host's files.
 */
export function flattenHostConfig(path: string, options: FlattenOptions = {}): Promise<FlatConfig> {
  return flattenConfig({ path, ...hostReader }, options);
}

const hostReader: ConfigReader = {
  readFile: (path) => unlessMissing(readFile(path, "utf8")),
  listDir: (path) => unlessMissing(readdir(path)),
};

async function flattenFile(
  state: Flattening,
  file: string,
  text: string,
  including: readonly string[],
): Promise<ConfigElement[]> {
  if (including.includes(file)) throw loop(`${file} includes itself`, file, including);
  if (including.length === MAX_DEPTH) throw loop(`includes nested deeper than ${MAX_DEPTH}`, file, including);
  state.sources.push(file);
  const root = parseConfig(text, { file });
  checkRoot(root);
  const inner = [...including, file];
  const result: ConfigElement[] = [];
  for (const element of root.children) {
    checkElement(element);
    if (element.name === "include") result.push(...(await include(state, element, inner)));
    else if (element.name === "includedir") result.push(...(await includeDir(state, element, inner)));
    else result.push(element);
  }
  return result;
}

async function include(state: Flattening, element: ConfigElement, including: readonly string[]) {
  const { selinuxRoot } = state.options;
  const ignoreMissing = yes(element, "ignore_missing");
  const rootRelative = yes(element, "selinux_root_relative");
  if (yes(element, "if_selinux_enabled") && selinuxRoot === undefined) return [];
  if (rootRelative && selinuxRoot === undefined)
    throw malformed("selinux_root_relative without if_selinux_enabled, and SELinux is off", element);
  const base = rootRelative ? (selinuxRoot ?? "/") : posix.dirname(element.file);
  const path = posix.resolve(base, element.text);
  const text = await readBounded(state, path);
  if (text !== undefined) return flattenFile(state, path, text, including);
  if (ignoreMissing) return [];
  throw missing(path, element);
}

async function includeDir(state: Flattening, element: ConfigElement, including: readonly string[]) {
  const folder = posix.resolve(posix.dirname(element.file), element.text);
  const names = (await state.source.listDir(folder)) ?? [];
  const result: ConfigElement[] = [];
  for (const name of names.filter((candidate) => candidate.endsWith(".conf")).sort()) {
    const path = posix.join(folder, name);
    try {
      const text = await readBounded(state, path);
      if (text !== undefined) result.push(...(await flattenFile(state, path, text, including)));
    } catch (error) {
      // dbus-daemon logs "Encountered error … while parsing …" and goes on without the file.
      if (!(error instanceof DbusError) || error.code === "CONFIG_TOO_LARGE") throw error;
      state.skipped.push({ file: path, reason: error.message });
    }
  }
  return result;
}

async function readBounded(state: Flattening, path: string): Promise<string | undefined> {
  state.files += 1;
  if (state.files > MAX_FILES) throw tooLarge(`more than ${MAX_FILES} files`, path);
  const text = await state.source.readFile(path);
  if (text !== undefined && text.length > MAX_FILE_BYTES)
    throw tooLarge(`${path} is larger than ${MAX_FILE_BYTES} bytes`, path);
  return text;
}

function missing(path: string, by?: ConfigElement): DbusError {
  const where = by === undefined ? "" : `, which ${by.file}, line ${by.line} includes`;
  return new DbusError("CONFIG_MISSING", `there is no ${path}${where}`, {
    hint: "install the dbus package (dbus-system-bus-common on Debian) in the image, or give another path",
    path,
  });
}

function loop(why: string, path: string, including: readonly string[]): DbusError {
  return new DbusError("CONFIG_LOOP", `${why}: ${[...including, path].join(" → ")}`, {
    hint: "dbus-daemon would refuse it too; mend the includes",
    path,
  });
}

function tooLarge(why: string, path: string): DbusError {
  return new DbusError("CONFIG_TOO_LARGE", `this is no bus configuration: ${why}`, {
    hint: "look at the image's dbus-1 folders",
    path,
  });
}

/** A folder where a file should be, or the other way round, is as good as missing. */
async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return undefined;
    throw error;
  }
}
