import { readdir, readFile, realpath, rm } from "node:fs/promises";
import { type Group, openGroup, readHierarchy } from "@drums/cgroup2";
import { sys } from "@drums/nsexec";
import { readMountinfo } from "@drums/nsexec/proc";
import { listRoots, releaseRoot } from "@drums/rootfs";
import { codeOf, DrumsError, messageOf } from "../errors.js";
import type { Home } from "../home.js";
import { endProcess } from "./end-process.js";
import { identify } from "./identity.js";
import type { Resource } from "./journal.js";
import { endNetwork } from "./network.js";
import type { SessionFolder } from "./store.js";

/**
 * Takes a session down, whatever state it is in: processes, network, cgroup, hold on the root, mounts, folder, in this order
 * (a root must outlive the overlays on it: the kernel would not refuse to unmount it under them).
 * May be called again after a crash half way. Only what this session made is touched.
 * @throws DrumsError TEARDOWN, naming every step that failed; the folder then stays for `drums gc`
 */
export async function removeSession(home: Home, session: SessionFolder): Promise<void> {
  const held = await session.held();
  const failures: string[] = [];
  const attempt = async (what: string, act: () => Promise<unknown>): Promise<void> => {
    await act().catch((error: unknown) => failures.push(`${what}: ${messageOf(error)}`));
  };
  await attempt("processes", () => endProcesses(session, held));
  await attempt("network", () => endNetwork(session, held));
  for (const resource of held.filter(({ kind }) => kind === "cgroup"))
    await attempt(`cgroup ${resource.id}`, () => removeGroup(resource));
  await attempt("root", () => releaseHolds(home, session));
  await attempt("mounts", () => unmountBelow(session.path));
  if (failures.length === 0)
    await attempt("folder", () => rm(session.path, { recursive: true, force: true }));
  if (failures.length === 0) return;
  throw new DrumsError({
    code: "TEARDOWN",
    what: `session ${session.id} could not be taken down whole`,
    where: session.path,
    why: failures.join("; "),
    hint: "`drums gc` tries again; its journal.jsonl says what it still holds",
  });
}

/** Ends every process of the session: its cgroup's, its recorded init's, and any that lives on its upper. */
async function endProcesses(session: SessionFolder, held: readonly Resource[]): Promise<void> {
  for (const resource of held.filter(({ kind }) => kind === "cgroup"))
    await (await groupOf(resource))?.kill({ timeoutMs: 10_000 });
  for (const pid of await processesOn(session.upper)) {
    const process = await identify(pid).catch(() => undefined);
    if (process !== undefined) await endProcess(process);
  }
}

/**
 * Host pids that see an overlay with this upper. It finds what no record names:
 * a session whose owner was killed between the clone and the record, where there is no cgroup2.
 */
export async function processesOn(upper: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const needle = `upperdir=${upper},`;
  const found: number[] = [];
  for (const pid of pids) {
    const mounts = await readFile(`/proc/${pid}/mountinfo`, "utf8").catch(() => "");
    if (mounts.includes(needle)) found.push(pid);
  }
  return found;
}

async function removeGroup(resource: Resource): Promise<void> {
  await (await groupOf(resource))?.remove();
}

async function groupOf(resource: Resource): Promise<Group | undefined> {
  const path = resource.id.split("/");
  try {
    return await openGroup({ hierarchy: await readHierarchy(), path });
  } catch (error) {
    if (codeOf(error) === "NO_GROUP") return undefined;
    throw error;
  }
}

/** A root is shared: the holds on it are the rootfs package's own records, and this session's are given back. */
async function releaseHolds(home: Home, { id }: SessionFolder): Promise<void> {
  for (const root of await listRoots({ stateDir: home.path }))
    if (root.holders.includes(id)) await releaseRoot({ stateDir: home.path, rootId: root.id, holder: id });
}

/** A sized upper, and what a crash left: it is ours, for it lies in our folder. */
async function unmountBelow(path: string): Promise<void> {
  const folder = await realpath(path).catch(() => path);
  const points = (await readMountinfo("self")).map(({ mountPoint }) => mountPoint);
  for (const point of points.filter((path) => path.startsWith(`${folder}/`)).reverse())
    sys.umount2(point, sys.MNT.DETACH);
}
