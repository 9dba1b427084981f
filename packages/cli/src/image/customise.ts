import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ImageRecipe, RecipeUser } from "../recipes/types.js";
import { runHostProgram } from "./host-program.js";

const FONT_FOLDERS = ["usr/share/fonts", "usr/local/share/fonts"];

/**
 * Turns a fresh Debian root into a recipe's own: user, files, machine id, font cache.
 * The root was made by us a moment ago and nothing of it has run, so its paths are followed as they are.
 */
export async function customise(
  recipe: ImageRecipe,
  { root, signal }: { readonly root: string; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  await addUser(recipe.user, { root, signal });
  for (const { path, content, mode = 0o644 } of recipe.files) await putFile(join(root, path), content, mode);
  await writeMachineId(root);
  await makeFontCache({ root, signal });
}

async function addUser(
  { name, uid, gid, home, shell, sudo }: RecipeUser,
  { root, signal }: { root: string; signal: AbortSignal | undefined },
): Promise<void> {
  const inRoot = (...argv: string[]) => runHostProgram(["chroot", root, ...argv], { signal });
  await inRoot("groupadd", "--gid", `${gid}`, name);
  await inRoot(
    "useradd",
    ...["--uid", `${uid}`, "--gid", `${gid}`, "--create-home", "--home-dir", home, "--shell", shell],
    name,
  );
  if (sudo) await putFile(join(root, "etc/sudoers.d", name), `${name} ALL=(ALL) NOPASSWD: ALL\n`, 0o440);
}

/** machine-id(5): 32 hexadecimal digits and a newline; D-Bus reads the same one through its link. */
async function writeMachineId(root: string): Promise<void> {
  await putFile(join(root, "etc/machine-id"), `${randomBytes(16).toString("hex")}\n`, 0o444);
}

/**
 * fontconfig takes a cache for stale unless it holds the folder's mtime to the nanosecond, and mke2fs -d
 * keeps whole seconds only: so the folders get whole seconds first. A stale cache costs every session a scan
 * of all fonts and a cache of its own.
 */
async function makeFontCache({
  root,
  signal,
}: {
  root: string;
  signal: AbortSignal | undefined;
}): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  for (const folder of FONT_FOLDERS) await setFolderTimes(join(root, folder), now);
  await runHostProgram(["chroot", root, "fc-cache", "--force", "--system-only"], { signal });
}

async function setFolderTimes(folder: string, seconds: number): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) await setFolderTimes(join(folder, entry.name), seconds);
  }
  await utimes(folder, seconds, seconds).catch(() => {});
}

async function putFile(path: string, content: string, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  await chmod(path, mode);
}
