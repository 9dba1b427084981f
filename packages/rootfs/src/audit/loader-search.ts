import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { RootfsError } from "../errors.js";
import { resolveInRoot } from "../resolve.js";
import { type ElfFile, readElf, readElfKind } from "./elf.js";
import { type LoaderFacts, readLoaderConf, readLoaderFacts } from "./loader.js";
import { type CacheEntry, readLoaderCache } from "./loader-cache.js";
import type { Processor } from "./processor.js";

/** Of no program that works; a hostile one could name files without end. */
const MAX_OBJECTS = 4096;
/** Cache flags of an ABI, by e_machine (_DL_CACHE_DEFAULT_ID). */
const CACHE_FLAGS: Readonly<Record<number, number>> = { 62: 0x303, 183: 0xa03, 3: 0x3 };
const DEFAULT_FACTS: LoaderFacts = { folders: ["/lib", "/usr/lib"], lib: "lib" };

/** How the loader came to a library. */
export type Route = "path" | "rpath" | "runpath" | "cache" | "default" | "interpreter";

export interface LoadedLibrary {
  /** As the first object that needs it asks for it. */
  readonly name: string;
  /** As the loader itself names it, links in it. Inside the root. */
  readonly path: string;
  /** The same without links. */
  readonly file: string;
  readonly neededBy: string;
  readonly route: Route;
}

export interface MissingLibrary {
  readonly name: string;
  readonly neededBy: string;
  readonly reason: string;
  /** A folder of ld.so.conf that has it, though the cache knows nothing of it. */
  readonly seenIn?: string;
}

/** An object of the loader's list. */
interface LoadedObject {
  readonly path: string;
  readonly file: string;
  readonly elf: ElfFile;
  /** dev:ino. */
  readonly identity: string;
  /** Everything it was asked for as. */
  readonly names: Set<string>;
  /** Who asked for it first. */
  readonly loader?: LoadedObject;
}

type Found = Pick<LoadedObject, "path" | "file" | "elf" | "identity">;

/** The search of glibc's loader, step by step, on a root that lies still. */
export class LoaderSearch {
  readonly #list: LoadedObject[];
  readonly #libraries: LoadedLibrary[] = [];
  readonly #missing = new Map<string, MissingLibrary>();

  private constructor(
    private readonly root: string,
    private readonly program: LoadedObject,
    /** Loaded by the kernel, before the list begins. */
    private readonly interpreter: LoadedObject | undefined,
    private readonly facts: LoaderFacts,
    private readonly cache: ReadonlyMap<string, readonly CacheEntry[]>,
    private readonly processor: Processor,
  ) {
    this.#list = [program];
  }

  static async open(root: string, path: string, processor: Processor): Promise<LoaderSearch> {
    const program = { ...(await load(root, path)), names: new Set([path]) };
    const asked = program.elf.interpreter;
    const found = asked === undefined ? undefined : await load(root, asked).catch(noInterpreter(asked));
    const interpreter = found && { ...found, names: new Set([asked ?? ""]) };
    const facts = found && (await readLoaderFacts((await resolveInRoot(root, found.file)).host));
    const cache = await cacheFor(root, program.elf.machine);
    return new LoaderSearch(root, program, interpreter, facts ?? DEFAULT_FACTS, cache, processor);
  }

  get main(): ElfFile {
    return this.program.elf;
  }

  objects(): readonly LoadedObject[] {
    return this.#list;
  }

  /** Breadth first: the list grows at its end while it is gone through (_dl_map_object_deps). */
  async all(): Promise<{ libraries: readonly LoadedLibrary[]; missing: readonly MissingLibrary[] }> {
    for (let index = 0; index < this.#list.length && index < MAX_OBJECTS; index++) {
      const object = this.#list[index];
      for (const name of object?.elf.needed ?? []) if (object) await this.#need(name, object);
    }
    return { libraries: this.#libraries, missing: [...this.#missing.values()] };
  }

  async #need(asked: string, by: LoadedObject): Promise<void> {
    const name = this.#expand(asked, by);
    if (this.#loaded(name) || this.#missing.has(name)) return;
    if (this.interpreter && isNamed(this.interpreter, name))
      return this.#append(name, this.interpreter, by, "interpreter");
    const found = await this.#find(name, by);
    if (typeof found === "string") {
      const seenIn = await this.#seenIn(name);
      const miss = { name, neededBy: by.path, reason: found, ...(seenIn ? { seenIn } : {}) };
      this.#missing.set(name, miss);
      return;
    }
    const same = [...this.#list, ...(this.interpreter ? [this.interpreter] : [])].find(
      ({ identity }) => identity === found.object.identity,
    );
    if (same && this.#list.includes(same)) same.names.add(name);
    else this.#append(name, same ?? { ...found.object, names: new Set(), loader: by }, by, found.route);
  }

  #append(name: string, object: LoadedObject, by: LoadedObject, route: Route): void {
    object.names.add(name);
    this.#list.push(object);
    const { path, file } = object;
    this.#libraries.push({ name, path, file, neededBy: by.path, route });
  }

  #loaded(name: string): boolean {
    return this.#list.some((object) => isNamed(object, name));
  }

  async #find(name: string, by: LoadedObject): Promise<{ object: Found; route: Route } | string> {
    try {
      for await (const { path, route } of this.#candidates(name, by)) {
        const object = await this.#verified(path);
        if (object) return { object, route };
      }
    } catch (error) {
      // The loader gives up at a file that is there and is no library.
      if (error instanceof RootfsError && (error.code === "NOT_ELF" || error.code === "BAD_ELF"))
        return `which is no library: ${error.message}`;
      throw error;
    }
    return "which is nowhere to be found";
  }

  /** Paths in the order in which the loader tries them. */
  async *#candidates(name: string, by: LoadedObject): AsyncGenerator<{ path: string; route: Route }> {
    if (name.includes("/")) return yield { path: name, route: "path" };
    if (by.elf.runpath === undefined)
      for (const folder of this.#rpaths(by)) yield* this.#inFolder(folder, name, "rpath");
    for (const folder of this.#elements(by.elf.runpath, by)) yield* this.#inFolder(folder, name, "runpath");
    const cached = this.#cached(name);
    if (cached !== undefined && !(by.elf.noDefaultLibraries && this.facts.folders.includes(dirname(cached))))
      yield { path: cached, route: "cache" };
    if (by.elf.noDefaultLibraries) return;
    for (const folder of this.facts.folders) yield* this.#inFolder(folder, name, "default");
  }

  /** DT_RPATH of the asking object, of who loaded that, and so on; the program's own in any case. */
  *#rpaths(by: LoadedObject): Generator<string> {
    let last: LoadedObject | undefined;
    for (let object: LoadedObject | undefined = by; object; object = object.loader) {
      yield* this.#elements(object.elf.rpath, object);
      last = object;
    }
    if (last !== this.program) yield* this.#elements(this.program.elf.rpath, this.program);
  }

  #elements(path: string | undefined, object: LoadedObject): string[] {
    if (!path) return [];
    const elements = path
      .split(":")
      .map((element) => this.#expand(element, object).replace(/\/+$/, "") || "/");
    return elements.filter((element) => element.startsWith("/"));
  }

  *#inFolder(folder: string, name: string, route: Route): Generator<{ path: string; route: Route }> {
    const prefix = folder === "/" ? "" : folder;
    for (const hwcap of this.processor.hwcaps)
      yield { path: `${prefix}/glibc-hwcaps/${hwcap}/${name}`, route };
    yield { path: `${prefix}/${name}`, route };
  }

  #cached(name: string): string | undefined {
    const entries = this.cache.get(name) ?? [];
    for (const hwcap of this.processor.hwcaps) {
      const better = entries.find((entry) => entry.hwcap === hwcap);
      if (better) return better.path;
    }
    return entries.find(({ hwcap }) => hwcap === undefined)?.path;
  }

  /** Dynamic string tokens, ld.so(8). */
  #expand(text: string, { path }: LoadedObject): string {
    const values: Readonly<Record<string, string>> = {
      ORIGIN: dirname(path),
      LIB: this.facts.lib,
      PLATFORM: this.processor.platform,
    };
    return text.replace(
      /\$(?:\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM)(?!\w))/g,
      (_, braced: string | undefined, bare: string) => values[braced ?? bare] ?? "",
    );
  }

  /** The library at a path; undefined where there is none, or one of another architecture (open_verify). */
  async #verified(path: string): Promise<Found | undefined> {
    const { host, exists } = await resolveInRoot(this.root, path);
    if (!exists || !(await stat(host)).isFile()) return undefined;
    const kind = await readElfKind(host);
    const { bits, machine } = this.program.elf;
    return kind.bits === bits && kind.machine === machine ? await load(this.root, path) : undefined;
  }

  async #seenIn(name: string): Promise<string | undefined> {
    if (name.includes("/")) return undefined;
    for (const folder of await readLoaderConf(this.root))
      if ((await resolveInRoot(this.root, `${folder}/${name}`)).exists) return folder;
    return undefined;
  }
}

function isNamed({ names, elf, path }: LoadedObject, name: string): boolean {
  return names.has(name) || path === name || elf.soname === name;
}

async function load(root: string, path: string): Promise<Found> {
  const { inside, host, exists } = await resolveInRoot(root, path);
  const stats = exists ? await stat(host) : undefined;
  if (!stats?.isFile()) throw Object.assign(new Error(`${path} is no file`), { code: "ENOENT" });
  return { path, file: inside, elf: await readElf(host), identity: `${stats.dev}:${stats.ino}` };
}

async function cacheFor(root: string, machine: number): Promise<Map<string, CacheEntry[]>> {
  const wanted = CACHE_FLAGS[machine];
  const byName = new Map<string, CacheEntry[]>();
  for (const entry of await readLoaderCache(root))
    if (entry.flags === wanted) byName.set(entry.name, [...(byName.get(entry.name) ?? []), entry]);
  return byName;
}

function noInterpreter(path: string) {
  return (cause: unknown): never => {
    throw new RootfsError("NO_SUCH_PROGRAM", `the program's loader ${path} is missing in the root`, {
      path,
      hint: "The program is for another architecture, or the image has no libc: install it.",
      cause,
    });
  };
}
