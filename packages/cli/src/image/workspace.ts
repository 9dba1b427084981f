import { mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { codeOf, DrumsError } from "../errors.js";
import { readJsonFile, writeJsonFile } from "../home.js";
import { identify, isAlive } from "../session/identity.js";

const OWNER = "owner.json";
const ownerSchema = z.object({ pid: z.number().int().positive(), startTime: z.string() });

/** The folder of one build; holding it keeps other builds of the same image out. */
export interface Workspace {
  readonly path: string;
  /** Removes it with all that is in it. */
  remove(): Promise<void>;
}

/**
 * Takes the folder `.build-NAME` of a folder of images. What a killed build left there is removed first.
 * Made under another name with its owner inside and renamed, so that it never exists without one.
 * @throws DrumsError IMAGE_BUILD_BUSY while a living process builds the same image
 */
export async function takeWorkspace(images: string, name: string): Promise<Workspace> {
  const path = join(images, `.build-${name}`);
  const made = await mkdtemp(join(images, `.new-${name}-`));
  try {
    await writeJsonFile(join(made, OWNER), await identify(process.pid));
    await removeIfOrphaned(path, name);
    await rename(made, path);
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    throw isTaken(error) ? busy(name, path) : error;
  }
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

async function removeIfOrphaned(path: string, name: string): Promise<void> {
  const owner = await readJsonFile(join(path, OWNER), ownerSchema).catch(() => undefined);
  if (owner !== undefined && (await isAlive(owner))) throw busy(name, path, owner.pid);
  await rm(path, { recursive: true, force: true });
}

/** rename(2) onto a folder that is not empty. */
function isTaken(error: unknown): boolean {
  return codeOf(error) === "ENOTEMPTY" || codeOf(error) === "EEXIST";
}

function busy(name: string, path: string, pid?: number): DrumsError {
  return new DrumsError({
    code: "IMAGE_BUILD_BUSY",
    what: `another build of ${name} is running`,
    where: path,
    ...(pid !== undefined && { why: `process ${pid} holds it` }),
    hint: "wait for it, then run the same command: it reuses the image",
  });
}
