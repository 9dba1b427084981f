import { randomBytes } from "node:crypto";
import {
  type CloneIdentity,
  type FreshMachine,
  freshenMachine,
  type InitClient,
  natResolvConf,
  runOnFork,
  writeIdentity,
} from "@drums/nsexec";
import { writeInside } from "./boot/inside.js";
import type { LiveSession } from "./open.js";
import { USER } from "./paths.js";
import type { Lineage, SessionRecord } from "./record.js";

/** A program of the session that each sibling runs before it is reported. */
export interface OnFork {
  /** Absolute path inside the session. */
  readonly path: string;
  /** Default `root`. */
  readonly as?: "root" | "user";
}

/** What siblings are given beside a host name, a token and a generation of their own. */
export interface IdentityOptions {
  /** `fresh`: a machine-id, D-Bus's own where it keeps one, and ssh host keys. Default `kept`. */
  readonly identity?: "kept" | "fresh";
  readonly onFork?: OnFork | undefined;
}

/** The place of a session in its line of descent, with a token of its own. */
export function newLineage(origin?: { readonly session: string; readonly generation: number }): Lineage {
  const token = randomBytes(16).toString("hex");
  if (origin === undefined) return { generation: 0, token };
  return { generation: origin.generation + 1, token, parent: origin.session };
}

/** Tells a booted session's programs who they are, and where their resolver is, before any of them starts. */
export async function introduce(live: LiveSession): Promise<void> {
  await live.withInit(async (init) => {
    await writeIdentity({ init, root: live.root }, identityOf(live.record));
    if (live.record.spec.network === "nat") await writeResolver(init);
  });
}

/**
 * Makes a sibling that runs already into one of its own, by programs of the session.
 * @throws NsexecError IDENTITY_FAILED, ON_FORK_FAILED
 */
export async function reintroduce(
  live: LiveSession,
  { identity = "kept", onFork }: IdentityOptions,
): Promise<FreshMachine | undefined> {
  const who = identityOf(live.record);
  return live.withInit(async (init) => {
    const fresh = identity === "fresh" ? await freshenMachine(init) : undefined;
    // Whoever sees the generation change finds the new ids in place.
    await writeIdentity({ init, root: live.root }, who);
    if (onFork !== undefined) await runOnFork(init, who, programOf(onFork));
    return fresh;
  });
}

function identityOf({ id, spec, checkpoint, lineage }: SessionRecord): CloneIdentity {
  const { generation, token, parent } = lineage ?? newLineage();
  return {
    session: id,
    hostname: spec.hostname,
    generation,
    token,
    ...(checkpoint !== undefined && { checkpoint }),
    ...(parent !== undefined && { parent }),
  };
}

function programOf({ path, as = "root" }: OnFork) {
  if (as === "root") return { path, env: { HOME: "/root", USER: "root" } };
  const { uid, gid, home, name } = USER;
  return { path, uid, gid, env: { HOME: home, USER: name, LOGNAME: name, DISPLAY: ":0" } };
}

/** In images of other distributions it is a link to a file of a resolver that does not run here. */
async function writeResolver(init: InitClient): Promise<void> {
  await writeInside(init, "/etc/resolv.conf", natResolvConf());
}
