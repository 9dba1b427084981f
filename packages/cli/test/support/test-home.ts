import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Criu, installCriu } from "@drums/criu";
import type { ProfileName } from "@drums/nsexec";
import type { Need } from "../../../../tools/testing/needs.js";
import { createHome, type Home, homeAt } from "../../src/home.js";
import { collectGarbage } from "../../src/session/gc.js";
import { removeSession } from "../../src/session/remove.js";
import { listSessionIds, sessionFolder } from "../../src/session/store.js";
import { sharedHome } from "./test-image.js";

export const PROFILES: readonly ProfileName[] = ["compat", "hardened"];

/** What a test needs that brings up a desktop. */
export const DESKTOP_NEEDS: readonly Need[] = [
  "root",
  "fuse",
  "loop",
  "program:qemu-storage-daemon",
  "program:mmdebstrap",
];

/**
 * A home of a test's own whose slow things (layers, digests, fetched packages) are shared by the whole suite.
 * What the test leaves is taken down at its end, and the folder removed.
 */
export async function withTestHome(body: (home: Home) => Promise<void>): Promise<void> {
  const store = await sharedHome();
  const path = await mkdtemp(join(tmpdir(), "drums-e2e-"));
  for (const room of ["layers", "cache", "criu"] as const) await symlink(store[room], join(path, room));
  const home = await createHome(homeAt(path));
  const failures: unknown[] = [];
  await body(home).catch((error: unknown) => failures.push(error));
  // What a failed body left open can hold up what follows: its own failure is the one to read.
  await takeDown(home)
    .then(() => rm(path, { recursive: true }))
    .catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function takeDown(home: Home): Promise<void> {
  for (const id of await listSessionIds(home)) await removeSession(home, sessionFolder(home, id));
  const { failures } = await collectGarbage(home);
  if (failures.length > 0) throw new Error(`a test's home could not be taken down: ${failures.join("; ")}`);
}

/** The pinned CRIU, installed once for the suite. */
export async function testCriu(): Promise<Criu> {
  return installCriu({ home: (await sharedHome()).path });
}
