import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, DrumsError } from "../errors.js";
import type { Home } from "../home.js";
import { withLock } from "../lock.js";

/**
 * Runs a build in an empty folder of its own beside the images, which is gone afterwards. One build of a name at a
 * time: what a killed one left in the folder is removed by the next, which the kernel's lock lets in.
 * @throws DrumsError IMAGE_BUILD_BUSY while another process builds it, and what `build` throws
 */
export async function inWorkspace<T>(
  home: Home,
  { name, build }: { readonly name: string; readonly build: (scratch: string) => Promise<T> },
): Promise<T> {
  const scratch = join(home.images, `.build-${name}`);
  const body = async () => {
    await rm(scratch, { recursive: true, force: true });
    await mkdir(scratch, { recursive: true, mode: 0o755 });
    try {
      return await build(scratch);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  };
  try {
    return await withLock(home, `build-${name}`, body, { timeoutMs: 0 });
  } catch (error) {
    throw codeOf(error) === "LOCKED" ? busy(name, scratch, error) : error;
  }
}

function busy(name: string, scratch: string, cause: unknown): DrumsError {
  return new DrumsError({
    code: "IMAGE_BUILD_BUSY",
    what: `another build of ${name} is running`,
    where: scratch,
    hint: "wait for it, then run the same command: it reuses the image",
    cause,
  });
}
