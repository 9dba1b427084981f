import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, readdir, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ImageRecipe, RecipeUser } from "../recipes/types.js";
import { runHostProgram } from "./host-program.js";

/** Font folders lie here, and so does what their links lead to. */
const SHARED_DATA = ["usr/share", "usr/local/share"];

/**
 * Turns a fresh Debian root into a recipe's own: user, files, machine id, font cache, what the recipe compiles.
 * The root was made by us a moment ago and nothing of it has run, so its paths are followed as they are.
 */
export async function customise(
  recipe: ImageRecipe,
  { root, signal }: { readonly root: string; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  await addUser(recipe.user, { root, signal });
  for (const { path, content, mode = 0o644, owner } of recipe.files)
    await putFile(join(root, path), { content, mode, ...(owner === "user" && { owner: recipe.user }) });
  await writeMachineId(root);
  await makeFontCache({ root, signal });
  for (const argv of recipe.finish ?? []) await runHostProgram(["chroot", root, ...argv], { signal });
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
  if (sudo)
    await putFile(join(root, "etc/sudoers.d", name), {
      content: `${name} ALL=(ALL) NOPASSWD: ALL\n`,
      mode: 0o440,
    });
}

/** machine-id(5): 32 hexadecimal digits and a newline; D-Bus reads the same one through its link. */
async function writeMachineId(root: string): Promise<void> {
  const content = `${randomBytes(16).toString("hex")}\n`;
  await putFile(join(root, "etc/machine-id"), { content, mode: 0o444 });
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
  for (const folder of SHARED_DATA) await keepWholeSeconds(join(root, folder));
  await runHostProgram(["chroot", root, "fc-cache", "--force", "--system-only"], { signal });
}

/** For a folder and all below it; links are not followed. */
async function keepWholeSeconds(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await keepWholeSeconds(join(folder, entry.name));
  }
  const seconds = Math.floor((await stat(folder)).mtimeMs / 1000);
  await utimes(folder, seconds, seconds);
}

interface FileFacts {
  readonly content: string;
  readonly mode: number;
  /** Default root. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

async function putFile(path: string, { content, mode, owner }: FileFacts): Promise<void> {
  const firstMade = await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  await chmod(path, mode);
  if (owner === undefined) return;
  for (let made = path; firstMade !== undefined && made.startsWith(firstMade); made = dirname(made))
    await chown(made, owner.uid, owner.gid);
  await chown(path, owner.uid, owner.gid);
}
