import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder of a test's own, removed at its end. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "drums-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
