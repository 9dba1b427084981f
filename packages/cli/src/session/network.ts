import { attachNat, findNat, type PortRequest } from "@drums/nsexec";
import { codeOf, DrumsError, EXIT, type ExitCode, messageOf } from "../errors.js";
import { endProcess } from "./end-process.js";
import { identify, isAlive } from "./identity.js";
import type { Resource } from "./journal.js";
import type { SessionNetwork, SessionRecord } from "./record.js";
import type { SessionFolder } from "./store.js";

/** How a session's slirp4netns stands in its journal; the process itself is found by its command line. */
const SLIRP: Resource = { kind: "process", id: "slirp4netns" };

/** What a session's net namespace is connected to, as `drums ps` tells it. `lost`: its slirp4netns has ended. */
export type NetworkStanding = "none" | "nat" | "lost";

/**
 * Connects a session's net namespace by a slirp4netns of its own, which ends with the session's init, or by
 * {@link endNetwork}.
 * @throws DrumsError NAT_UNAVAILABLE, PORT_TAKEN; NsexecError NAT_FAILED, NAT_API
 */
export async function connectNetwork(
  folder: SessionFolder,
  init: { readonly pid: number; readonly startTime?: bigint },
  publish: readonly PortRequest[],
): Promise<SessionNetwork> {
  await folder.journal.acquire(SLIRP);
  const { pid, startTime, ports, confinement } = await attachNat(init, {
    folder: folder.path,
    publish,
  }).catch((error: unknown) => {
    throw explained(error);
  });
  return { slirp: { pid, startTime: String(startTime) }, ports: [...ports], confinement: [...confinement] };
}

/** Ends a session's slirp4netns, a recorded one and one that a killed owner did not come to record. */
export async function endNetwork(folder: SessionFolder, held: readonly Resource[]): Promise<void> {
  if (!held.some(({ kind, id }) => kind === SLIRP.kind && id === SLIRP.id)) return;
  for (const pid of findNat(folder.path)) {
    const process = await identify(pid).catch(() => undefined);
    if (process !== undefined) await endProcess(process);
  }
}

/** Tells from the processes, not from the record's word. */
export async function networkStanding({ spec, network }: SessionRecord): Promise<NetworkStanding> {
  if (spec.network === "none") return "none";
  return network !== undefined && (await isAlive(network.slirp)) ? "nat" : "lost";
}

const EXITS: Readonly<Record<string, ExitCode>> = { NAT_UNAVAILABLE: EXIT.blocker, PORT_TAKEN: EXIT.usage };

/** What the caller can mend by another option or a package is no fault of ours. */
function explained(error: unknown): unknown {
  const code = codeOf(error) ?? "";
  const exitCode = EXITS[code];
  if (exitCode === undefined) return error;
  const hint = error instanceof Error && "hint" in error ? String(error.hint) : "";
  return new DrumsError({ code, exitCode, what: messageOf(error), hint, cause: error });
}
