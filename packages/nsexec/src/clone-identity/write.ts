import { NsexecError } from "../errors.js";
import type { InitClient } from "../init-client/index.js";
import type { SessionRoot } from "../session-files.js";
import { hostsWith } from "./hosts.js";
import { runScript } from "./run.js";
import { type CloneIdentity, IDENTITY_FILES } from "./types.js";

/** The files of an identity; the generation is not among them. */
type Files = readonly (readonly [path: string, text: string])[];

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
  const files: Files = [
    ["/etc/hostname", `${hostname}\n`],
    ["/etc/hosts", hostsWith(await readHosts(root), hostname)],
    [IDENTITY_FILES.token, `${token}\n`],
    [IDENTITY_FILES.identity, `${JSON.stringify({ version: 1, ...identity }, null, 2)}\n`],
  ];
  const told = `${generation}\n`;
  try {
    await byInit(init, files, told);
  } catch (error) {
    if (!isUnknownToInit(error)) throw failed(error);
    await byScript(init, files, told);
  }
}

/** The generation comes last, so that whoever sees it change finds all else in place. */
async function byInit(init: InitClient, files: Files, generation: string): Promise<void> {
  for (const [path, text] of files) await init.put(path, text);
  await init.overwrite(IDENTITY_FILES.generation, generation);
}

/** A checkpoint keeps the init that it was made with, and an older one writes no files. */
async function byScript(init: InitClient, files: Files, generation: string): Promise<void> {
  const puts = files.map((_, index) => `put "$${2 * index + 2}" "$${2 * index + 3}" 644`);
  const script = [...puts, `printf %s "$1" 1<>${IDENTITY_FILES.generation}`].join("\n");
  await runScript(init, { what: "its identity", script, args: [generation, ...files.flat()] });
}

function isUnknownToInit(error: unknown): boolean {
  return error instanceof NsexecError && error.code === "INIT_REFUSED" && error.step === "protocol";
}

function failed(cause: unknown): unknown {
  if (!(cause instanceof NsexecError) || cause.code !== "INIT_REFUSED") return cause;
  return new NsexecError(
    "IDENTITY_FAILED",
    `its identity could not be set inside the session: ${cause.message}`,
    {
      step: "its identity",
      hint: "The session's disk is full, or /etc or /run of it was made unusable.",
      cause,
    },
  );
}

/** A file that is not there, or was made into something else by the session, is begun anew. */
async function readHosts(root: SessionRoot): Promise<string> {
  const text = await root.readFile("/etc/hosts", { follow: true, maxBytes: 65_536 }).catch(() => undefined);
  return text?.toString() ?? "127.0.0.1\tlocalhost\n";
}
