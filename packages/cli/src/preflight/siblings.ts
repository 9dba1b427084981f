import type { Capacity } from "../capacity/index.js";
import { type AreaItem, itemWhen } from "./items.js";

/** What a checkpoint's siblings ask of this machine: how many fit, and each limit that so many more would meet. */
export function siblingItems(
  { fits, resources }: Capacity,
  { checkpoint, count }: { readonly checkpoint: string; readonly count: number },
): AreaItem[] {
  const area = `siblings of ${checkpoint}`;
  const first = resources[0];
  const total = itemWhen(fits >= count, {
    name: "room",
    ok: `${countText(fits)} more fit${first === undefined ? "" : `; then ${first.name} run out`}`,
    otherwise: `${fits} more fit, ${count} are asked for`,
    remedy: "see the limits below, or ask for fewer",
    status: "blocker",
  });
  const items = resources.map(({ name, fits: most, detail, remedy }) =>
    itemWhen(most >= count, {
      name,
      ok: `${countText(most)} fit: ${detail}`,
      otherwise: `${most} fit: ${detail}`,
      remedy: remedy(count),
      status: "blocker",
    }),
  );
  return [total, ...items].map((item) => ({ area, ...item }));
}

function countText(count: number): string {
  return Number.isFinite(count) ? String(count) : "any number";
}
