import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { collectRoots } from "../../src/index.js";

/** A folder that is gone when the test is over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "drums-rootfs-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A state folder whose roots are taken down when the test is over, however it went. */
export async function stateFolder(): Promise<string> {
  const folder = await temporaryFolder();
  onTestFinished(async () => {
    await collectRoots({ stateDir: folder, liveHolders: [] });
  });
  return folder;
}
