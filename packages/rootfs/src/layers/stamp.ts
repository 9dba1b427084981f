import { createHash } from "node:crypto";
import { walkTree } from "../walk.js";

/** How {@link stampLayer} takes time. */
export interface StampOptions {
  /** Default: the clock, in milliseconds since 1970. */
  readonly now?: number;
}

/** The kernel's clock of file times ticks at least ten times as often (CONFIG_HZ). */
const TICK_MS = 100;

/**
 * A name of a layer's state by what the kernel keeps of each entry: inode, mode, owner, size and time of change. Content
 * is not read. Whatever changes the layer through the kernel changes the stamp, for nobody can set a time of change;
 * so a digest holds for as long as the stamp does. Undefined where something changed so lately that a change to come
 * could have the same time.
 */
export async function stampLayer(
  folder: string,
  { now = Date.now() }: StampOptions = {},
): Promise<string | undefined> {
  const listing = createHash("sha256");
  let latest = 0n;
  for await (const { path, stats } of walkTree(folder)) {
    const { dev, ino, mode, uid, gid, size, mtimeNs, ctimeNs } = stats;
    listing.update(
      `${[dev, ino, mode, uid, gid, size, mtimeNs, ctimeNs].join(" ")} ${path.toString("hex")}\n`,
    );
    if (ctimeNs > latest) latest = ctimeNs;
  }
  return Number(latest / 1_000_000n) > now - TICK_MS ? undefined : listing.digest("hex");
}
