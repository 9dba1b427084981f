import { initBinaryPath } from "@drums/nsexec";
import { digestImage, folderLayer } from "@drums/rootfs";
import type { Home } from "../home.js";
import { keepLayer, type StoredLayer } from "./store.js";

/** Where PID 1's own file lies inside every session; CRIU looks it up there. */
const INIT_PATH = "/usr/lib/drums/drums-init";

/** The layer whose only content is drums-init. */
export type InitLayer = StoredLayer;

/**
 * Gives the layer with PID 1's file, named by the file's sha256: another build of drums-init is another layer,
 * and checkpoints keep the one that they were made with.
 * @throws NsexecError INIT_MISSING; DrumsError LAYER_CHANGED
 */
export async function initLayer({ home }: { readonly home: Home }): Promise<InitLayer> {
  const binary = initBinaryPath();
  const { sha256 } = await digestImage(binary);
  return await keepLayer(home, {
    name: `init-${sha256.slice(0, 12)}`,
    make: async (target) => {
      const entries = [{ path: INIT_PATH, source: binary, mode: 0o755 }];
      return { layer: await folderLayer({ entries, target }), debs: [] };
    },
  });
}
