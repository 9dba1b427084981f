import { open } from "node:fs/promises";
import { RootfsError } from "../errors.js";
import { resolveInRoot } from "../resolve.js";
import type { ElfFile } from "./elf.js";
import { type AuditFinding, problem } from "./finding.js";
import { statInside } from "./inside.js";
import { type LoadedLibrary, LoaderSearch, type MissingLibrary } from "./loader-search.js";
import { type Processor, readProcessor } from "./processor.js";

const MAX_SCRIPTS = 4;
const MAX_SHEBANG_BYTES = 256;

/** What {@link auditLibraries} takes beside the root. */
export interface LibraryAuditOptions {
  /** Absolute, inside the root. A script stands for its interpreter. */
  readonly program: string;
  /** Default: this machine's. */
  readonly processor?: Processor;
}

/** All libraries of a program, as the root's own loader would load them. */
export interface LibraryAudit {
  /** The ELF file whose libraries these are: the program, or a script's interpreter. Inside the root, without links. */
  readonly program: string;
  /** Scripts on the way to it. */
  readonly scripts: readonly string[];
  /** PT_INTERP; absent for a program that is linked statically. */
  readonly interpreter?: string;
  /** In the order of the loader's own list, the loader among them where a library needs it. */
  readonly libraries: readonly LoadedLibrary[];
  readonly missing: readonly MissingLibrary[];
  readonly findings: readonly AuditFinding[];
}

/**
 * Finds every library of a program of a root, as the root's glibc loader would (_dl_map_object in
 * glibc's elf/dl-load.c): breadth first, each name and each file once; DT_RPATH of the asking object and
 * of who asked for that, DT_RUNPATH, ld.so.cache, the loader's default folders; in each folder the
 * processor's glibc-hwcaps first; $ORIGIN, $LIB and $PLATFORM; every path inside the root. Nothing is
 * run. LD_LIBRARY_PATH and dlopen(3) are beyond it.
 *
 * @throws RootfsError NOT_ELF, BAD_ELF, BAD_CACHE, NO_SUCH_PROGRAM, LINK_LOOP
 */
export async function auditLibraries(
  root: string,
  { program, processor }: LibraryAuditOptions,
): Promise<LibraryAudit> {
  const { scripts, path } = await throughScripts(root, program);
  const search = await LoaderSearch.open(root, path, processor ?? (await readProcessor()));
  const { libraries, missing } = await search.all();
  const { interpreter } = search.main;
  return {
    program: path,
    scripts,
    ...(interpreter === undefined ? {} : { interpreter }),
    libraries,
    missing,
    findings: [...missing.map(missingFinding), ...search.objects().flatMap(relativeFindings)],
  };
}

async function throughScripts(root: string, program: string): Promise<{ scripts: string[]; path: string }> {
  const scripts: string[] = [];
  let asked = program;
  for (;;) {
    const { inside, host } = await resolveInRoot(root, asked);
    if (!(await statInside(root, asked))?.isFile()) throw noProgram(program, asked, "there is no such file");
    const interpreter = await shebangOf(host);
    if (interpreter === undefined) return { scripts, path: inside };
    scripts.push(inside);
    if (scripts.length > MAX_SCRIPTS) throw noProgram(program, asked, "its scripts call each other");
    asked = interpreter;
  }
}

/** `#!/usr/bin/env NAME` looks NAME up; it is taken from /usr/bin, where an image keeps its interpreters. */
async function shebangOf(host: string): Promise<string | undefined> {
  const file = await open(host, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_SHEBANG_BYTES), 0, MAX_SHEBANG_BYTES, 0);
    const [line = ""] = buffer.toString("latin1", 0, bytesRead).split("\n");
    const [interpreter, ...words] = line.startsWith("#!") ? line.slice(2).trim().split(/\s+/) : [];
    if (!interpreter?.endsWith("/env")) return interpreter;
    const name = words.find((word) => !word.startsWith("-") && !word.includes("="));
    return name?.startsWith("/") ? name : `/usr/bin/${name ?? "env"}`;
  } finally {
    await file.close();
  }
}

function missingFinding({ name, neededBy, reason, seenIn }: MissingLibrary): AuditFinding {
  const remedy =
    seenIn === undefined
      ? "Install the package that brings it, in the image or as a layer."
      : `${seenIn} has it, and ld.so.conf names that folder: run \`ldconfig -r ROOT\` on the image.`;
  return problem("library", neededBy, `it needs ${name}, ${reason}`, remedy);
}

/** A relative or empty element is the current folder's: whoever chooses that chooses the code. */
function relativeFindings({ path, elf }: { path: string; elf: ElfFile }): AuditFinding[] {
  const elements = (elf.runpath ?? elf.rpath ?? "/").split(":");
  return elements
    .filter((element) => !/^[/$]/.test(element))
    .map((element) => ({
      name: "runpath",
      status: "note",
      path,
      detail: `its run path has ${element === "" ? "an empty element" : JSON.stringify(element)}: the current folder of whoever starts it`,
    }));
}

function noProgram(program: string, path: string, why: string): RootfsError {
  return new RootfsError("NO_SUCH_PROGRAM", `the libraries of ${program} cannot be told: ${path}: ${why}`, {
    path,
    hint: "Give a program of the root by its absolute path inside it.",
  });
}
