import type { Home } from "../home.js";
import { hostItems } from "./host.js";
import type { AreaItem } from "./items.js";
import { type Machine, thisMachine } from "./machine.js";
import { askSource, type PreflightSource, packageSources } from "./packages.js";

/** Options of {@link collectPreflight}. */
export interface CollectOptions {
  readonly home: Home;
  /** How many siblings are to live at a time; default 1. */
  readonly siblings?: number;
  /** The CRIU that is meant. Default: the one that a checkpoint would be made with. */
  readonly criu?: string | undefined;
  /** Default every package of drums. */
  readonly sources?: readonly PreflightSource[];
  /** Default the machine this process runs on. */
  readonly machine?: Machine;
}

/**
 * Everything that this machine offers or lacks: the host's items, then each package's own. Where a package and
 * the host speak of the same thing, the package's word stands. Never throws for what it finds.
 */
export async function collectPreflight(options: CollectOptions): Promise<AreaItem[]> {
  const { home, siblings = 1, criu, sources = packageSources, machine = thisMachine } = options;
  const own: AreaItem[] = [];
  for (const source of sources) own.push(...(await askSource(source, home, { version: criu })));
  const spokenFor = new Set(own.map(({ name }) => name));
  const host = hostItems({ home: home.path, siblings }, machine).filter(({ name }) => !spokenFor.has(name));
  return [...host.map((item) => ({ area: "host", ...item })), ...own];
}
