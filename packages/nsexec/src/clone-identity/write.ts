import type { InitClient } from "../init-client/index.js";
import type { SessionRoot } from "../session-files.js";
import { hostsWith } from "./hosts.js";
import { runScript } from "./run.js";
import { type CloneIdentity, IDENTITY_FILES } from "./types.js";

/** The generation comes last, so that whoever sees it change finds all else in place. */
const SCRIPT = `
put /etc/hostname "$1" 644
put /etc/hosts "$2" 644
put ${IDENTITY_FILES.token} "$3" 644
put ${IDENTITY_FILES.identity} "$4" 644
printf '%s\\n' "$5" 1<>${IDENTITY_FILES.generation}
`;

/**
 * Tells a session's programs who they are: /etc/hostname, /etc/hosts and {@link IDENTITY_FILES}. The kernel's
 * host name is {@link setHostname}'s.
 * @throws NsexecError code IDENTITY_FAILED
 */
export async function writeIdentity(
  { init, root }: { readonly init: InitClient; readonly root: SessionRoot },
  identity: CloneIdentity,
): Promise<void> {
  const { hostname, token, generation } = identity;
  const json = `${JSON.stringify({ version: 1, ...identity }, null, 2)}\n`;
  const hosts = hostsWith(await readHosts(root), hostname);
  const args = [`${hostname}\n`, hosts, `${token}\n`, json, String(generation)];
  await runScript(init, { what: "its identity", script: SCRIPT, args });
}

/** A file that is not there, or was made into something else by the session, is begun anew. */
async function readHosts(root: SessionRoot): Promise<string> {
  const text = await root.readFile("/etc/hosts", { follow: true, maxBytes: 65_536 }).catch(() => undefined);
  return text?.toString() ?? "127.0.0.1\tlocalhost\n";
}
