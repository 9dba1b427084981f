import { createHash } from "node:crypto";
import { join } from "node:path";
import { type FetchedDeb, fetchDebs, type PinnedDeb } from "@drums/criu";
import { digestImage, unpackDebLayer } from "@drums/rootfs";
import type { Home } from "../home.js";
import { keepLayer, type LayerDeb, type StoredLayer } from "./store.js";
import pins from "./xvfb-pins.json" with { type: "json" };

/** What is asked of {@link xvfbLayer}. */
export interface XvfbLayerOptions {
  readonly home: Home;
  /** The root that the layer goes over: its links say where the packages' folders really are. */
  readonly root: string;
  /** Told what is being fetched. Default: nobody is. */
  readonly onDetail?: ((detail: string) => void) | undefined;
}

/** The layer that brings Xvfb, with the packages that it came from. */
export type XvfbLayer = StoredLayer;

/**
 * Xvfb and the libraries that an image without any X server lacks, from packages pinned by version and sha256.
 * GL's dispatch libraries are among them because Xvfb links them; Mesa and its LLVM are not: Xvfb runs without,
 * and leaves out hardware and software GLX.
 */
export const XVFB_PACKAGES: readonly PinnedDeb[] = pins.packages.map((pin) => ({
  ...pin,
  suites: pins.suites,
}));

/**
 * Gives the Xvfb layer, made at the first call: packages from the machine's own mirror into the cache, their
 * hashes checked, unpacked without running anything of them.
 * @throws CriuError PIN_NOT_SERVED, PIN_HASH_MISMATCH, APT_FAILED; RootfsError of the unpacking;
 *   DrumsError LAYER_CHANGED
 */
export async function xvfbLayer({ home, root, onDetail = () => {} }: XvfbLayerOptions): Promise<XvfbLayer> {
  return await keepLayer(home, {
    name: `xvfb-${pinsHash().slice(0, 12)}`,
    make: async (target) => {
      const debs = await fetchDebs({
        packages: XVFB_PACKAGES,
        target: join(home.cache, "debs"),
        onProgress: ({ step, detail }) => onDetail(`${step}: ${detail}`),
      });
      onDetail(`unpacking ${debs.length} packages`);
      const layer = await unpackDebLayer({ debs, target, root });
      return { layer, debs: await Promise.all(debs.map(describe)) };
    },
  });
}

function pinsHash(): string {
  return createHash("sha256").update(JSON.stringify(XVFB_PACKAGES)).digest("hex");
}

async function describe({ name, version, sha256: expectedSha256, path }: FetchedDeb): Promise<LayerDeb> {
  return { name, version, expectedSha256, sha256: (await digestImage(path)).sha256 };
}
