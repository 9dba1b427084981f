import type { Home } from "../home.js";
import { listPools, poolSize, warmSiblings } from "./store.js";

/** A pool in `drums ps`. */
export interface PoolSummary {
  readonly checkpoint: string;
  readonly size: number;
  readonly warm: number;
}

/** All pools of a home, by their checkpoint's name. */
export async function summarisePools(home: Home): Promise<PoolSummary[]> {
  const names = await listPools(home);
  return Promise.all(
    names.map(async (checkpoint) => ({
      checkpoint,
      size: await poolSize(home, checkpoint),
      warm: (await warmSiblings(home, checkpoint)).length,
    })),
  );
}
