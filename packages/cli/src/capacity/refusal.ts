import { DrumsError, EXIT } from "../errors.js";
import type { Capacity } from "./capacity.js";

/** Refuses more siblings than fit, before anything is done. @throws DrumsError NO_ROOM, with the remedy for each limit */
export function assertFits(
  capacity: Capacity,
  { checkpoint, count }: { checkpoint: string; count: number },
): void {
  const short = capacity.resources.filter(({ fits }) => fits < count);
  if (short.length === 0) return;
  throw new DrumsError({
    code: "NO_ROOM",
    exitCode: EXIT.blocker,
    what: `${count} siblings of ${checkpoint} do not fit: there is room for ${capacity.fits}`,
    why: short.map(({ name, detail }) => `${name}: ${detail}`).join("; "),
    hint: [
      ...short.map(({ remedy }) => remedy(count)),
      "or fork with --wait: the rest are made when there is room",
    ].join("; "),
  });
}
