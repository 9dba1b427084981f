import { chmod, lchown, lstat, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { RootfsError, systemCode } from "../errors.js";
import { resolveInRoot } from "../resolve.js";

/** Decides where in a layer a member of a package goes, and makes the folders above it. */
export interface Placement {
  /** The host path for a member's name; its parent exists and is a real folder of the layer. */
  place(name: string, kind: "folder" | "leaf"): Promise<string>;
}

/**
 * Places names in the layer at `target`. Where the root below has a link in place of a folder (/lib beside
 * a merged /usr, /var/run), the name is moved to where the link leads: a folder in the layer would hide
 * the link, and with it all that the root has there.
 *
 * @throws RootfsError from `place`: DEB_UNSAFE for an absolute name, `..`, or a way through a link of the layer
 */
export function placeInLayer(target: string, root: string | undefined): Placement {
  return {
    place: async (name, kind) => {
      const parts = checkedParts(name);
      const inside = root === undefined ? parts : await throughRoot(root, parts, kind);
      await makeFolders(target, root, inside.slice(0, -1));
      return join(target, ...inside);
    },
  };
}

function checkedParts(name: string): string[] {
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (name.startsWith("/")) throw unsafe(name, "its name is absolute");
  if (parts.includes("..")) throw unsafe(name, "its name holds ..");
  if (name.includes("\0")) throw unsafe(name, "its name holds a NUL");
  return parts;
}

async function throughRoot(
  root: string,
  parts: readonly string[],
  kind: "folder" | "leaf",
): Promise<string[]> {
  const { inside } = await resolveInRoot(root, `/${parts.join("/")}`, { followLast: kind === "folder" });
  return inside.split("/").filter((part) => part !== "");
}

/** Missing folders get the mode and owner that the root has there, for the layer's folder will stand for both. */
async function makeFolders(
  target: string,
  root: string | undefined,
  parts: readonly string[],
): Promise<void> {
  for (let depth = 1; depth <= parts.length; depth++) {
    const path = join(target, ...parts.slice(0, depth));
    const kind = await kindOf(path);
    if (kind === "folder") continue;
    if (kind !== "missing")
      throw unsafe(parts.join("/"), `${parts.slice(0, depth).join("/")} in the layer is a ${kind}`);
    const model =
      root === undefined
        ? undefined
        : await stat(join(root, ...parts.slice(0, depth))).catch(() => undefined);
    await mkdir(path);
    await setOwnerAndMode(path, { mode: 0o755, uid: 0, gid: 0, ...(model ? pick(model) : {}) });
  }
}

function pick({ mode, uid, gid }: { mode: number; uid: number; gid: number }) {
  return { mode: mode & 0o7777, uid, gid };
}

async function kindOf(path: string): Promise<"folder" | "link" | "file" | "missing"> {
  try {
    const stats = await lstat(path);
    if (stats.isDirectory()) return "folder";
    return stats.isSymbolicLink() ? "link" : "file";
  } catch (error) {
    if (systemCode(error) === "ENOENT") return "missing";
    throw error;
  }
}

/** chown first: it clears set-user-id. Only root can give files away; others keep what they make. */
export async function setOwnerAndMode(
  path: string,
  { mode, uid, gid }: { readonly mode: number; readonly uid: number; readonly gid: number },
): Promise<void> {
  if (process.getuid?.() === 0) await lchown(path, uid, gid);
  await chmod(path, mode);
}

export function unsafe(name: string, why: string): RootfsError {
  return new RootfsError("DEB_UNSAFE", `${JSON.stringify(name)} is refused: ${why}`, {
    path: name,
    hint: "A package from Debian holds no such member; do not use this one.",
  });
}
