import { createHash } from "node:crypto";
import { join } from "node:path";
import { type FetchedDeb, fetchDebs, type PinnedDeb } from "@drums/criu";
import { digestImage, unpackDebLayer } from "@drums/rootfs";
import type { Home } from "../home.js";
import type { XServerName } from "../recipes/types.js";
import { keepLayer, type LayerDeb, type StoredLayer } from "./store.js";
import xorgDummy from "./xorg-dummy-pins.json" with { type: "json" };
import xvfb from "./xvfb-pins.json" with { type: "json" };

/** What is asked of {@link xServerLayer}. */
export interface XServerLayerOptions {
  readonly home: Home;
  /** The root that the layer goes over: its links say where the packages' folders really are. */
  readonly root: string;
  /** Default `xvfb`. */
  readonly xServer?: XServerName | undefined;
  /** Told what is being fetched. Default: nobody is. */
  readonly onDetail?: ((detail: string) => void) | undefined;
}

/** The layer that brings an X server, with the packages that it came from. */
export type XServerLayer = StoredLayer;

/**
 * An X server and the libraries that an image without any lacks, from packages pinned by version and sha256.
 * GL's dispatch libraries are among them because the servers link them; Mesa and its LLVM are not: the servers run
 * without, and leave out hardware and software GLX.
 */
export const X_SERVER_PACKAGES: Readonly<Record<XServerName, readonly PinnedDeb[]>> = {
  xvfb: packagesOf(xvfb),
  "xorg-dummy": packagesOf(xorgDummy),
};

/**
 * Gives the layer of an X server, made at the first call: packages from the machine's own mirror into the cache,
 * their hashes checked, unpacked without running anything of them.
 * @throws CriuError PIN_NOT_SERVED, PIN_HASH_MISMATCH, APT_FAILED; RootfsError of the unpacking;
 *   DrumsError LAYER_CHANGED
 */
export async function xServerLayer(options: XServerLayerOptions): Promise<XServerLayer> {
  const { home, root, xServer = "xvfb", onDetail = () => {} } = options;
  const packages = X_SERVER_PACKAGES[xServer];
  return await keepLayer(home, {
    name: `${xServer}-${hashOf(packages).slice(0, 12)}`,
    make: async (target) => {
      const debs = await fetchDebs({
        packages,
        target: join(home.cache, "debs"),
        onProgress: ({ step, detail }) => onDetail(`${step}: ${detail}`),
      });
      onDetail(`unpacking ${debs.length} packages`);
      const layer = await unpackDebLayer({ debs, target, root });
      return { layer, debs: await Promise.all(debs.map(describe)) };
    },
  });
}

function packagesOf({ packages, suites }: typeof xvfb): PinnedDeb[] {
  return packages.map((pin) => ({ ...pin, suites }));
}

function hashOf(packages: readonly PinnedDeb[]): string {
  return createHash("sha256").update(JSON.stringify(packages)).digest("hex");
}

async function describe({ name, version, sha256: expectedSha256, path }: FetchedDeb): Promise<LayerDeb> {
  return { name, version, expectedSha256, sha256: (await digestImage(path)).sha256 };
}
