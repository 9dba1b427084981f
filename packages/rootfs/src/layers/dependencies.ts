import { basename } from "node:path";
import { execa } from "execa";
import { type InstalledPackage, parseControl, readPackages } from "../audit/packages.js";
import { RootfsError, reasonOf } from "../errors.js";
import { type Relation, satisfies } from "./debian-version.js";

export interface DependencyOptions {
  /** The packages of one layer, as files. */
  readonly debs: readonly string[];
  /** The root that the layer is for. */
  readonly root: string;
}

/** A dependency that neither the root nor the layer meets. */
export interface MissingDependency {
  /** The package of the layer that asks for it. */
  readonly package: string;
  /** As the package writes it, all alternatives. */
  readonly dependency: string;
  /** A package of that name is there, in a version that will not do. */
  readonly found?: string;
}

/**
 * Names each `Depends` and `Pre-Depends` of a layer's packages that neither the root's dpkg status nor
 * the layer itself meets, by name and version, real or provided.
 *
 * @throws RootfsError DEB_UNREADABLE
 */
export async function findMissingDependencies({
  debs,
  root,
}: DependencyOptions): Promise<MissingDependency[]> {
  const layer: InstalledPackage[] = [];
  for (const deb of debs) layer.push(await controlOf(deb));
  const present = [...(await readPackages(root)).values()].filter(({ installed }) => installed);
  const offered = offersOf([...present, ...layer]);
  return layer.flatMap((entry) =>
    entry.depends
      .filter((dependency) => !dependency.split("|").some((one) => isMet(parseOne(one), offered)))
      .map((dependency) => describe(entry.name, dependency, offered)),
  );
}

/** Versions by name; undefined for a name that is provided without one. */
type Offers = ReadonlyMap<string, readonly { readonly version?: string; readonly real: boolean }[]>;

interface Dependency {
  readonly name: string;
  readonly relation?: Relation;
  readonly version?: string;
}

async function controlOf(deb: string): Promise<InstalledPackage> {
  try {
    const { stdout } = await execa("dpkg-deb", ["--field", deb]);
    const [found] = parseControl(stdout);
    if (found) return found;
    throw new Error("its control file names no package");
  } catch (cause) {
    throw new RootfsError(
      "DEB_UNREADABLE",
      `cannot read the control file of ${basename(deb)}: ${reasonOf(cause)}`,
      {
        path: deb,
        hint: "Check the path; fetch the package again.",
        cause,
      },
    );
  }
}

function offersOf(packages: readonly InstalledPackage[]): Offers {
  const offers = new Map<string, { version?: string; real: boolean }[]>();
  const offer = (name: string, version: string | undefined, real: boolean) =>
    offers.set(name, [...(offers.get(name) ?? []), { ...(version === undefined ? {} : { version }), real }]);
  for (const { name, version, provides } of packages) {
    offer(name, version, true);
    for (const provided of provides.map(parseOne)) offer(provided.name, provided.version, false);
  }
  return offers;
}

/** "name:arch (>= version) [arch] <profile>"; what is behind the version matters to sources only. */
function parseOne(text: string): Dependency {
  const match = /^\s*([^\s:([<]+)(?::\w+)?\s*(?:\(\s*(<<|<=|=|>=|>>)\s*([^)\s]+)\s*\))?/.exec(text);
  const [, name = text.trim(), relation, version] = match ?? [];
  return relation === undefined || version === undefined
    ? { name }
    : { name, relation: relation as Relation, version };
}

/** What is provided without a version meets no dependency on one (deb-control(5)). */
function isMet({ name, relation, version: wanted }: Dependency, offered: Offers): boolean {
  return (offered.get(name) ?? []).some(
    ({ version }) =>
      relation === undefined ||
      wanted === undefined ||
      (version !== undefined && satisfies(version, relation, wanted)),
  );
}

function describe(name: string, dependency: string, offered: Offers): MissingDependency {
  const others = dependency.split("|").map((one) => parseOne(one).name);
  const found = others.flatMap((other) =>
    (offered.get(other) ?? []).filter(({ real }) => real).map(({ version }) => `${other} ${version}`),
  );
  return { package: name, dependency, ...(found.length > 0 ? { found: found.join(", ") } : {}) };
}
