import {
  assertUsable,
  type Criu,
  checkCriu,
  DEFAULT_VERSION,
  findCriu,
  installCriu,
  type KernelCache,
  openKernelCache,
  PINNED_VERSIONS,
} from "@drums/criu";
import { openCheckpoint } from "./checkpoint/load.js";
import { codeOf } from "./errors.js";
import type { Home } from "./home.js";
import type { Progress } from "./render/progress.js";

/** Which CRIU is asked for. */
export interface CriuChoice {
  /** One of `PINNED_VERSIONS`. Default: what is installed, else the default of `@drums/criu`. */
  readonly version?: string | undefined;
}

/**
 * The CRIU that this home works with: the installed one, or the pinned private bundle, installed on first use.
 * Several versions stand side by side in a home.
 * @throws CriuError of the install, or where this kernel fails `criu check`
 */
export async function criuFor(
  home: Home,
  progress: Pick<Progress, "step" | "update">,
  { version }: CriuChoice = {},
): Promise<Criu> {
  const asked = version === undefined ? {} : { version };
  const criu = await findCriu({ home: home.path, ...asked }).catch((error: unknown) => {
    if (codeOf(error) !== "CRIU_MISSING") throw error;
    return progress.step(`installing CRIU ${version ?? DEFAULT_VERSION} privately`, () =>
      installCriu({
        home: home.path,
        ...asked,
        onProgress: ({ step, detail }) => progress.update(`${step}: ${detail}`),
      }),
    );
  });
  // What CRIU found out is kept by a dump only: there is no need to ask whether it works on this kernel and boot.
  if (!(await kernelCacheFor(home, criu)).warm) assertUsable(criu, await checkCriu(criu));
  return criu;
}

/**
 * The CRIU that reads a checkpoint's images: the one asked for, else of the version that wrote them.
 * @throws DrumsError NO_CHECKPOINT; CriuError as `criuFor`
 */
export async function criuForCheckpoint(
  home: Home,
  checkpoint: string,
  { progress, version }: CriuChoice & { readonly progress: Pick<Progress, "step" | "update"> },
): Promise<Criu> {
  if (version !== undefined) return criuFor(home, progress, { version });
  const { manifest } = await openCheckpoint(home, checkpoint);
  const wrote = manifest.criu.version;
  const found = await findCriu({ home: home.path }).catch(() => undefined);
  // A version without pins can only be what is there; whether it reads the images is loadCheckpoint's question.
  const isOther = found?.version !== wrote && PINNED_VERSIONS.includes(wrote);
  return criuFor(home, progress, isOther ? { version: wrote } : {});
}

/** What CRIU found out about this kernel, kept between calls; its mounts give CRIU a /run of its own. */
export function kernelCacheFor(home: Home, criu: Criu): Promise<KernelCache> {
  return openKernelCache(criu, { home: home.path });
}
