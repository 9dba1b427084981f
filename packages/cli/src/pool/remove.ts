import type { Home } from "../home.js";
import { removeSession } from "../session/remove.js";
import { whileNobodyFills } from "./fill.js";
import { poolSize, setPoolSize, warmSiblings } from "./store.js";

/** Gives a checkpoint's pool up and takes its warm siblings down. Does nothing where there is no pool. */
export async function removePool(home: Home, checkpoint: string): Promise<string[]> {
  if ((await poolSize(home, checkpoint)) === 0) return [];
  await setPoolSize(home, checkpoint, 0);
  return removeSurplus(home, checkpoint, 0);
}

/** Takes down the warm siblings beyond `size`, the oldest first; returns their ids. */
export function removeSurplus(home: Home, checkpoint: string, size: number): Promise<string[]> {
  return whileNobodyFills(home, async () => {
    const warm = await warmSiblings(home, checkpoint);
    const surplus = warm.slice(0, Math.max(warm.length - size, 0));
    for (const { folder } of surplus) await removeSession(home, folder);
    return surplus.map(({ folder }) => folder.id);
  });
}
