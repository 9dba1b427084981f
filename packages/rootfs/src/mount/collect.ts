import { reasonOf } from "../errors.js";
import { isAlive } from "./daemon.js";
import type { RootFolder } from "./layout.js";
import { withRootsLock } from "./lock.js";
import { type RootRecord, readRecord } from "./record.js";
import { DEFAULT_TIMEOUT_MS, listFolders, type StateOptions, writeRecord } from "./references.js";
import { realSystem } from "./system.js";
import { teardownRoot } from "./teardown.js";

export interface CollectOptions extends StateOptions {
  /**
   * Holders that are known to live. What only others hold is taken down. A function is asked under the lock of the
   * roots: a holder that comes into being before it takes its root, as it should, is then never overlooked.
   */
  readonly liveHolders: readonly string[] | (() => Promise<readonly string[]>);
}

/** What a collection did, by root id. */
export interface Collection {
  readonly removed: readonly { readonly id: string; readonly why: string }[];
  /** `lost`: the root has live holders but its daemon has died. */
  readonly kept: readonly {
    readonly id: string;
    readonly holders: readonly string[];
    readonly lost: boolean;
  }[];
  /** Roots that could not be taken down whole; they are tried again by the next collection. */
  readonly failed: readonly { readonly id: string; readonly reason: string; readonly error: unknown }[];
}

/**
 * Clears what crashes left: roots that were being made or taken down when their owner died, and roots
 * without a living holder. One root's failure does not keep the others.
 *
 * @throws RootfsError ROOT_BUSY
 */
export async function collectRoots(options: CollectOptions): Promise<Collection> {
  const { stateDir, liveHolders, timeoutMs = DEFAULT_TIMEOUT_MS, system = realSystem } = options;
  const removed: Collection["removed"][number][] = [];
  const kept: Collection["kept"][number][] = [];
  const failed: Collection["failed"][number][] = [];
  await withRootsLock(stateDir, { timeoutMs }, async () => {
    const live = new Set(typeof liveHolders === "function" ? await liveHolders() : liveHolders);
    for (const folder of await listFolders(stateDir)) {
      try {
        const record = await readRecord(folder);
        const why = reasonToRemove(record, live);
        if (why === undefined && typeof record === "object") {
          kept.push(await keep(folder, record, live));
          continue;
        }
        await teardownRoot(folder, { system, timeoutMs });
        removed.push({ id: folder.id, why: why ?? "no record" });
      } catch (error) {
        failed.push({ id: folder.id, reason: reasonOf(error), error });
      }
    }
  });
  return { removed, kept, failed };

  async function keep(folder: RootFolder, record: RootRecord, live: ReadonlySet<string>) {
    const holders = record.holders.filter((name) => live.has(name));
    if (holders.length < record.holders.length) await writeRecord(system, folder, { ...record, holders });
    const alive = await Promise.all([record.daemon, record.server].map((one) => !one || isAlive(one)));
    return { id: folder.id, holders, lost: alive.includes(false) };
  }
}

/** We hold the lock: whoever left a record half-way is dead. */
function reasonToRemove(
  record: RootRecord | "unreadable" | undefined,
  live: ReadonlySet<string>,
): string | undefined {
  if (record === undefined) return "it was given up before it had a record";
  if (record === "unreadable") return "its record cannot be read";
  if (record.stage === "acquiring") return "its owner died while mounting it";
  if (record.stage === "releasing") return "its owner died while taking it down";
  return record.holders.some((name) => live.has(name)) ? undefined : "no holder of it lives";
}
