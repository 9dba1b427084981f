import type { CriuChoice } from "../criu.js";
import { codeOf, messageOf } from "../errors.js";
import type { Home } from "../home.js";
import type { AreaItem, PreflightItem } from "./items.js";

/** A package of drums that says what the machine lacks for it. */
export interface PreflightSource {
  readonly area: string;
  items(home: Home, choice: CriuChoice): Promise<readonly PreflightItem[]>;
}

/** Loaded one by one when asked: a package whose native part is not built is a line of the table, not a crash. */
export const packageSources: readonly PreflightSource[] = [
  { area: "nsexec", items: async () => (await import("@drums/nsexec")).preflight() },
  { area: "rootfs", items: async () => (await import("@drums/rootfs")).preflight() },
  { area: "cgroup2", items: async () => (await import("@drums/cgroup2")).preflight() },
  { area: "criu", items: criuItems },
  { area: "dbus-private", items: async () => (await import("@drums/dbus-private")).preflight() },
  { area: "readiness", items: async () => (await import("@drums/readiness")).preflight() },
];

/** A package's items; one that throws becomes a blocker that says what it threw. */
export async function askSource(
  source: PreflightSource,
  home: Home,
  choice: CriuChoice = {},
): Promise<AreaItem[]> {
  const { area } = source;
  try {
    return (await source.items(home, choice)).map((item) => ({ area, ...item }));
  } catch (error) {
    const hint = error instanceof Error && "hint" in error ? error.hint : undefined;
    return [
      {
        area,
        name: area,
        status: "blocker",
        detail: `its preflight failed: ${messageOf(error)}`,
        remedy:
          typeof hint === "string" ? hint : "build drums anew (pnpm run build) and see docs of that package",
      },
    ];
  }
}

/** A CRIU that is merely absent blocks nothing: the probe brings its own pinned one. */
async function criuItems(home: Home, { version }: CriuChoice): Promise<PreflightItem[]> {
  const { findCriu, preflight } = await import("@drums/criu");
  const which = { home: home.path, ...(version !== undefined && { version }) };
  const items = await preflight(which);
  const code = await findCriu(which).then(() => undefined, codeOf);
  if (code !== "CRIU_MISSING") return items;
  return items.map((item) =>
    item.name === "criu" ? { ...item, status: "gap", remedy: COMES_BY_ITSELF } : item,
  );
}

const COMES_BY_ITSELF =
  "nothing to do: the first checkpoint installs the pinned bundle into DRUMS_HOME, by apt";
