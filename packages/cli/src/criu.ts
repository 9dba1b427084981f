import {
  assertUsable,
  type Criu,
  checkCriu,
  findCriu,
  installCriu,
  type KernelCache,
  openKernelCache,
} from "@drums/criu";
import { codeOf } from "./errors.js";
import type { Home } from "./home.js";
import type { Progress } from "./render/progress.js";

/**
 * The CRIU that this home works with: the installed one, or the pinned private bundle, installed on first use.
 * @throws CriuError of the install, or where this kernel fails `criu check`
 */
export async function criuFor(home: Home, progress: Pick<Progress, "step" | "update">): Promise<Criu> {
  const criu = await findCriu({ home: home.path }).catch((error: unknown) => {
    if (codeOf(error) !== "CRIU_MISSING") throw error;
    return progress.step("installing CRIU privately", () =>
      installCriu({
        home: home.path,
        onProgress: ({ step, detail }) => progress.update(`${step}: ${detail}`),
      }),
    );
  });
  // What CRIU found out is kept by a dump only: there is no need to ask whether it works on this kernel and boot.
  if (!(await kernelCacheFor(home, criu)).warm) assertUsable(criu, await checkCriu(criu));
  return criu;
}

/** What CRIU found out about this kernel, kept between calls; its mounts give CRIU a /run of its own. */
export function kernelCacheFor(home: Home, criu: Criu): Promise<KernelCache> {
  return openKernelCache(criu, { home: home.path });
}
