import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Need } from "../../../../tools/testing/needs.js";
import {
  collectRoots,
  listRoots,
  type MountRootOptions,
  type ReleaseOptions,
  releaseRoot,
} from "../../src/index.js";
import { leftOf } from "./mounts.js";

const SCRIPT = fileURLToPath(new URL("killed-owner.mjs", import.meta.url));
const DIST = fileURLToPath(new URL("../../dist/index.js", import.meta.url));

/** A process of its own runs compiled code. */
export const OWNER_NEEDS: readonly Need[] = ["root", `file:${DIST}`];

/** What the owner does until it is killed. Its holder is "one". */
export type OwnerAct =
  | { readonly act: "mount"; readonly options: Pick<MountRootOptions, "image" | "stateDir" | "way"> }
  | { readonly act: "release"; readonly options: Pick<ReleaseOptions, "stateDir" | "rootId"> };

/** At which call the owner is killed, and whether while it is under way or when it is done. */
interface Death {
  readonly calls: number;
  readonly moment: "during" | "after";
}

/** Calls that are more than one system call, so that there is a "during". */
const LONG = new Set(["run", "startDetached", "writeRecord", "endProcess"]);

/**
 * Kills an owner by SIGKILL after each of its calls on the machine, and during the long ones, a new process each
 * time, until one lives to its end. Each time a collection has to clear everything that it left.
 *
 * @param prepare gives what the next owner is to do
 * @returns the calls of the owner that was not killed
 */
export async function killAtEachCall(
  stateDir: string,
  prepare: () => Promise<OwnerAct> | OwnerAct,
): Promise<string[]> {
  for (let calls = 1; ; calls++) {
    const made = await killAt(stateDir, await prepare(), { calls, moment: "after" });
    if (made.length < calls) return made;
    if (LONG.has(made.at(-1) ?? "")) await killAt(stateDir, await prepare(), { calls, moment: "during" });
  }
}

/** Kills one owner, and lets a collection clear what it left. Gives the calls that it made. */
export async function killAt(stateDir: string, act: OwnerAct, death: Death): Promise<string[]> {
  const { made, signal } = await runOwner(act, death);
  const when = `${death.moment} call ${death.calls}, ${made.at(-1)}`;
  expect(signal, when).toBe(made.length < death.calls ? null : "SIGKILL");
  const { failed } = await collectRoots({ stateDir, liveHolders: ["one"] });
  expect(failed, when).toEqual([]);
  // What was whole when its owner died has a living holder; everything else must be gone.
  for (const { id } of await listRoots({ stateDir }))
    await releaseRoot({ stateDir, rootId: id, holder: "one" });
  expect(await leftOf(stateDir), when).toEqual([]);
  return made;
}

async function runOwner({ act, options }: OwnerAct, { calls, moment }: Death) {
  const request = JSON.stringify({ act, options: { ...options, holder: "one" }, calls, moment });
  const child = spawn(process.execPath, [SCRIPT, request], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (data) => {
    text += data;
  });
  const [status, signal] = await once(child, "close");
  expect([status, signal]).toEqual(signal === null ? [0, null] : [null, "SIGKILL"]);
  return { made: text.split("\n").filter(Boolean), signal };
}
