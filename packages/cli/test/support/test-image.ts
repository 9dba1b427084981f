import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHome, type Home, homeAt } from "../../src/home.js";
import { buildImage } from "../../src/image/index.js";

/** What a first build may take on a busy machine; give it as the timeout of a test that calls `testImage`. */
export const IMAGE_TIMEOUT_MS = 300_000;

/**
 * The DRUMS_HOME that tests share for what is slow to make and never changes: DRUMS_TEST_HOME, or a folder of the
 * system's temporary one. Sessions, checkpoints and evidence of a test belong into a home of its own.
 */
export function sharedHome(): Promise<Home> {
  return createHome(homeAt(process.env.DRUMS_TEST_HOME || join(tmpdir(), "drums-test-home")));
}

/** The GNOME image, built once like the other. */
export async function testGnomeImage(): Promise<{ readonly path: string; readonly sha256: string }> {
  const { path, sha256 } = await buildImage("gnome", { home: await sharedHome() });
  return { path, sha256 };
}

/** The openbox image: built by the first test that asks, reused by every other one and by later runs. */
export async function testImage(): Promise<{ readonly path: string; readonly sha256: string }> {
  const { path, sha256 } = await buildImage("openbox", { home: await sharedHome() });
  return { path, sha256 };
}
