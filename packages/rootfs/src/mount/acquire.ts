import { sys } from "@drums/nsexec";
import { RootfsError } from "../errors.js";
import type { RootChoice } from "../image/root-partition.js";
import type { BlockNode } from "../image/source.js";
import { mountErofsFile } from "./erofs-file.js";
import type { Journal } from "./journal.js";
import type { RootFolder } from "./layout.js";
import { chooseRoot, mountPartition } from "./partition-mount.js";
import type { RootRecord, Way } from "./record.js";
import { writeRecord } from "./references.js";
import { replayFailed, replayJournal } from "./replay.js";
import { chooseByContent } from "./root-content.js";
import type { RootSystem } from "./system.js";
import { takeDownDisk, teardownRoot } from "./teardown.js";
import { exposeDisk, noWay, type PassedOver, probeWay, type RootSource, WAYS } from "./ways.js";

/** What the making of one root needs throughout. */
export interface RootContext {
  readonly system: RootSystem;
  readonly journal: Journal;
  readonly folder: RootFolder;
  readonly timeoutMs: number;
  /** Take this way or fail. */
  readonly way: Way | undefined;
  /** Take this partition or fail. */
  readonly partition: number | undefined;
}

/** Errors after which the next way may still work. */
const PASSABLE: ReadonlySet<string> = new Set(["DAEMON_FAILED", "NO_WAY"]);

/**
 * Makes a root from nothing: record first, then disk, loop and mount, then the record of the whole. What
 * fails half-way is taken down again.
 */
export async function acquireRoot(
  context: RootContext,
  source: RootSource,
  { identity, holders }: { readonly identity: string; readonly holders: readonly string[] },
): Promise<RootRecord> {
  const { system, journal, folder, timeoutMs } = context;
  const begun: RootRecord = {
    version: 1,
    id: folder.id,
    image: source.path,
    identity,
    stage: "acquiring",
    holders: [...holders],
    passedOver: [],
    journalReplayed: false,
    uuid: "",
  };
  await journal.acquire({ kind: "folder", id: folder.path });
  try {
    await system.makeFolder(folder.mount);
    await writeRecord(system, folder, begun);
    const mounted = await mountByFirstWay(context, source);
    const record: RootRecord = { ...begun, ...mounted, stage: "mounted" };
    await writeRecord(system, folder, record);
    return record;
  } catch (error) {
    // The first error is the one to tell; what this cannot take down, collectRoots finds.
    await teardownRoot(folder, { system, timeoutMs }).catch(() => {});
    throw error;
  }
}

type Mounted = Pick<
  RootRecord,
  "way" | "passedOver" | "device" | "daemon" | "server" | "partition" | "journalReplayed" | "uuid"
>;

async function mountByFirstWay(context: RootContext, source: RootSource): Promise<Mounted> {
  const { system, folder, timeoutMs, way: forced } = context;
  const passedOver: PassedOver[] = [];
  for (const way of forced ? [forced] : WAYS) {
    const probed = await probeWay(way, source, { system, folder });
    const result = probed ?? (await tryWay(context, way, source));
    if (typeof result !== "string") return { ...result, way, passedOver };
    passedOver.push({ way, reason: result });
    // A probe leaves nothing, and a look for daemons goes through all processes.
    if (probed === undefined) await takeDownDisk(folder, { system, timeoutMs });
  }
  throw noWay(source.path, passedOver);
}

/** Mounts by one way; a string is the reason why the next one has to try. */
async function tryWay(
  context: RootContext,
  way: Way,
  source: RootSource,
): Promise<Omit<Mounted, "way" | "passedOver"> | string> {
  try {
    return source.kind === "folder"
      ? await bindFolder(context, source.path)
      : await mountImage(context, way, source);
  } catch (error) {
    if (error instanceof RootfsError && PASSABLE.has(error.code)) return error.message;
    throw error;
  }
}

async function bindFolder({ system, journal, folder }: RootContext, path: string) {
  const { BIND, REMOUNT, RDONLY, NODEV, NOSUID } = sys.MS;
  await journal.acquire({ kind: "mount", id: folder.mount, device: path });
  await system.mount(folder.mount, { source: path, flags: BIND });
  // mount(2) takes no other flag together with a new bind: read-only needs the second call.
  await system.mount(folder.mount, { flags: BIND | REMOUNT | RDONLY | NODEV | NOSUID });
  return { device: path, journalReplayed: false, uuid: "" };
}

async function mountImage(context: RootContext, way: Way, source: RootSource & { kind: "image" }) {
  const first = await expose(context, way, source, source.node);
  if (way === "erofs-file") return await mountWhole(context, source.path, first.choice);
  if (!first.choice.partition.filesystem?.needsRecovery) return await mountChoice(context, first, false);
  if (way === "raw-loop") return "the journal needs a replay, which would write to the image itself";
  const { system, folder, timeoutMs } = context;
  await takeDownDisk(folder, { system, timeoutMs });
  const { partition } = first.choice;
  const node = await replayJournal(system, folder, { way, source, partition, timeoutMs });
  const second = await expose(context, way, source, node);
  if (second.choice.partition.filesystem?.needsRecovery)
    throw replayFailed(source.path, "it still asks for a replay afterwards");
  return await mountChoice(context, second, true);
}

type Exposed = Awaited<ReturnType<typeof expose>>;

async function expose(
  context: RootContext,
  way: Way,
  source: RootSource & { kind: "image" },
  node: BlockNode,
) {
  const { system, folder, journal, partition: index } = context;
  if (way !== "erofs-file" && way !== "raw-loop")
    await journal.acquire({ kind: "process", id: folder.disk, pidFile: folder.pidFile });
  if (way === "nbd-fuse")
    await journal.acquire({ kind: "process", id: folder.socket, pidFile: folder.serverPidFile });
  const exposed = await exposeDisk(way, system, folder, { image: source.path, node, writable: false });
  const choice = await chooseRoot(exposed.disk, {
    bytes: source.virtualBytes,
    ...(index === undefined ? {} : { index }),
  });
  return { ...exposed, choice: await chooseByContent(context, exposed.disk, choice) };
}

async function mountChoice(
  { system, folder, journal }: RootContext,
  { disk, daemon, server, choice }: Exposed,
  replayed: boolean,
) {
  const { partition } = choice;
  const device = await mountPartition(system, { disk, partition, target: folder.mount, journal });
  return {
    device,
    ...(daemon ? { daemon } : {}),
    ...(server ? { server } : {}),
    partition: describePartition(choice),
    journalReplayed: replayed,
    uuid: partition.filesystem?.uuid ?? "",
  };
}

/** No loop device: the mount is the file's own. */
async function mountWhole({ system, folder, journal }: RootContext, image: string, choice: RootChoice) {
  await journal.acquire({ kind: "mount", id: folder.mount, device: image });
  await mountErofsFile(system, image, folder.mount);
  return {
    device: image,
    partition: describePartition(choice),
    journalReplayed: false,
    uuid: choice.partition.filesystem?.uuid ?? "",
  };
}

function describePartition({ partition, reason }: RootChoice): RootRecord["partition"] {
  const { index, start, bytes, filesystem, label } = partition;
  return {
    index,
    start,
    bytes,
    filesystem: filesystem?.kind ?? "",
    label: filesystem?.label || (label ?? ""),
    reason,
  };
}
