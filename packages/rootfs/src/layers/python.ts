import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { RootfsError } from "../errors.js";
import { resolveInRoot } from "../resolve.js";
import type { Layer } from "./digest.js";
import { folderLayer, type LayerEntry } from "./folder.js";
import { readWheel } from "./wheel.js";

/** A wheel file and the sha256 that it must have. */
export interface PinnedWheel {
  readonly path: string;
  readonly sha256: string;
}

export interface PythonLayerOptions {
  /** The root that the layer is for; its own python3 runs the environment. */
  readonly root: string;
  /** What is to be importable; pip's own wheel among them gives the environment a pip. */
  readonly wheels: readonly PinnedWheel[];
  /** The layer's folder; must not exist. Its parent must. */
  readonly target: string;
  /** Where the environment lies in the session. Default /opt/drums-python. */
  readonly prefix?: string;
  /** Inside the root. Default /usr/bin/python3. */
  readonly python?: string;
  /** The image's own packages are importable as well. Default false. */
  readonly systemPackages?: boolean;
}

export interface PythonLayer extends Layer {
  /** The environment's interpreter, inside the session. */
  readonly python: string;
  /** As the root's python3 is named: "3.11". */
  readonly version: string;
  /** What was installed, as "name version". */
  readonly distributions: readonly string[];
}

/**
 * Makes a Python environment (PEP 405) as a layer, on the root's own python3: no ensurepip, no network, and
 * nothing of the image or the wheels is run. Each wheel's sha256 is verified, and each file's against the
 * wheel's own RECORD.
 *
 * @throws RootfsError WHEEL_DIGEST_MISMATCH, WHEEL_UNREADABLE, WHEEL_UNSUITABLE, NO_SUCH_PROGRAM, LAYER_UNSAFE, LAYER_EXISTS
 */
export async function pythonLayer(options: PythonLayerOptions): Promise<PythonLayer> {
  const { root, target, prefix = "/opt/drums-python", systemPackages = false } = options;
  const { path: interpreter, version } = await findPython(root, options.python ?? "/usr/bin/python3");
  const python = `${prefix}/bin/python3`;
  const packages = `${prefix}/lib/python${version}/site-packages`;
  const config = `home = ${interpreter.replace(/\/[^/]*$/, "")}\ninclude-system-site-packages = ${systemPackages}\nversion = ${version}\n`;
  const entries: LayerEntry[] = [
    { path: `${prefix}/pyvenv.cfg`, content: config },
    { path: python, link: interpreter },
    { path: `${prefix}/bin/python`, link: "python3" },
    { path: packages },
  ];
  const distributions: string[] = [];
  for (const wheel of options.wheels) {
    const { name, files, scripts } = readWheel(await pinnedBytes(wheel), {
      file: basename(wheel.path),
      version,
    });
    distributions.push(name);
    for (const file of files) entries.push({ ...file, path: `${packages}/${file.path}` });
    for (const [script, entry] of scripts)
      entries.push({ path: `${prefix}/bin/${script}`, content: launcher(python, entry), mode: 0o755 });
  }
  const layer = await folderLayer({ entries, target, root });
  return { ...layer, python, version, distributions };
}

async function findPython(root: string, asked: string): Promise<{ path: string; version: string }> {
  const { inside, exists } = await resolveInRoot(root, asked);
  const version = /^python(3\.\d+)$/.exec(basename(inside))?.[1];
  // The name under which it was asked for stays: an update of the image may move what it leads to.
  if (exists && version !== undefined) return { path: asked, version };
  throw new RootfsError("NO_SUCH_PROGRAM", `${asked} is no python3.N of the root (it leads to ${inside})`, {
    path: asked,
    hint: "Install python3 in the image, or give another `python`.",
  });
}

async function pinnedBytes({ path, sha256 }: PinnedWheel): Promise<Buffer> {
  // Held in memory: what was hashed is what is unpacked.
  const bytes = await readFile(path);
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found === sha256.toLowerCase()) return bytes;
  throw new RootfsError(
    "WHEEL_DIGEST_MISMATCH",
    `${basename(path)} has sha256 ${found}, but ${sha256} is pinned`,
    {
      path,
      hint: "Fetch the pinned wheel, or pin the new sha256 after looking at it.",
      facts: { expected: sha256, found },
    },
  );
}

/** What pip writes for a console script: MODULE:OBJECT called, its value the exit status. */
function launcher(python: string, { module, object }: { module: string; object: string }): string {
  const [first = object] = object.split(".");
  return `#!${python}\nimport sys\nfrom ${module} import ${first}\nsys.exit(${object}())\n`;
}
