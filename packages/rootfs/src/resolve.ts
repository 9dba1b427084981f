import { lstat, readlink } from "node:fs/promises";
import { join } from "node:path";
import { RootfsError, systemCode } from "./errors.js";

/** As many as the kernel follows (path_resolution(7)). */
const MAX_LINKS = 40;

export interface Resolution {
  /** The path as seen from inside the root, without links, `.` or `..`. */
  readonly inside: string;
  /** The same on the host. */
  readonly host: string;
  /** False when some component does not exist; the rest is then taken as it is written. */
  readonly exists: boolean;
}

export interface ResolveOptions {
  /** Follow a link in the last component. Default true. */
  readonly followLast?: boolean;
}

/**
 * Resolves a path as a process chrooted to `root` would: absolute links start at the root, `..` at the
 * root stays there. Every component is looked at by lstat, so nothing outside is ever touched.
 *
 * For trees that nobody changes meanwhile: mounted roots and layers. Inside a running session, names can
 * change between look and use; there openat2 with RESOLVE_IN_ROOT is the tool (@drums/nsexec).
 *
 * @throws RootfsError LINK_LOOP, BAD_PATH
 */
export async function resolveInRoot(
  root: string,
  path: string,
  { followLast = true }: ResolveOptions = {},
): Promise<Resolution> {
  if (path.includes("\0"))
    throw new RootfsError("BAD_PATH", "a path holds a NUL byte", {
      path: root,
      hint: "Give a path without it.",
    });
  const pending = split(path);
  const done: string[] = [];
  let links = 0;
  let exists = true;
  for (let part = pending.shift(); part !== undefined; part = pending.shift()) {
    if (part === "..") {
      done.pop();
      continue;
    }
    const target: Link = exists ? await linkTarget(join(root, ...done, part)) : undefined;
    exists &&= target !== "missing";
    const follow = typeof target === "object" && (pending.length > 0 || followLast);
    if (!follow) {
      done.push(part);
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw linkLoop(root, path);
    if (target.to.startsWith("/")) done.length = 0;
    pending.unshift(...split(target.to));
  }
  return { inside: `/${done.join("/")}`, host: join(root, ...done), exists };
}

/** A link's target; "missing"; or undefined for what is no link. */
type Link = { readonly to: string } | "missing" | undefined;

async function linkTarget(path: string): Promise<Link> {
  try {
    const stats = await lstat(path);
    return stats.isSymbolicLink() ? { to: await readlink(path) } : undefined;
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return "missing";
    throw error;
  }
}

function split(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

function linkLoop(root: string, path: string): RootfsError {
  return new RootfsError("LINK_LOOP", `${path} leads through more than ${MAX_LINKS} links in ${root}`, {
    path,
    hint: "The links turn back on themselves: the root is damaged or hostile.",
  });
}
