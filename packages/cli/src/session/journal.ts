import { open, readFile } from "node:fs/promises";
import { z } from "zod";

/** An outside thing that a session holds. `id` and `kind` name it; the rest are facts that help to take it down. */
const resourceSchema = z
  .object({
    kind: z.enum(["mount", "loop", "process", "folder", "socket", "cgroup"]),
    id: z.string().min(1),
  })
  .catchall(z.union([z.string(), z.number()]));

export type Resource = z.infer<typeof resourceSchema>;

const lineSchema = z.object({ op: z.enum(["acquire", "release"]), resource: resourceSchema });

/** A session's record of what it holds outside itself: written before a thing is acquired, struck after its release. */
export interface Journal {
  acquire(resource: Resource): Promise<void>;
  release(resource: Resource): Promise<void>;
}

/** Opens the journal in `file` for appending; every line is on disk before the call returns. */
export function openJournal(file: string): Journal {
  return {
    acquire: (resource) => append(file, { op: "acquire", resource }),
    release: (resource) => append(file, { op: "release", resource }),
  };
}

/**
 * What a journal says is still held, oldest first. A last line torn by a crash is passed over:
 * it was written before anything was acquired.
 */
export function parseJournal(text: string): Resource[] {
  const held = new Map<string, Resource>();
  for (const line of text.split("\n")) {
    const parsed = lineSchema.safeParse(tryJson(line));
    if (!parsed.success) continue;
    const { op, resource } = parsed.data;
    const key = `${resource.kind}\0${resource.id}`;
    if (op === "acquire") held.set(key, resource);
    else held.delete(key);
  }
  return [...held.values()];
}

/** Reads the journal in `file`; a missing one holds nothing. */
export async function readJournal(file: string): Promise<Resource[]> {
  try {
    return parseJournal(await readFile(file, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

async function append(file: string, line: z.infer<typeof lineSchema>): Promise<void> {
  const handle = await open(file, "a", 0o600);
  try {
    // The leading line feed keeps this line whole where a crash tore the one before it.
    await handle.write(`\n${JSON.stringify(line)}\n`);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

function tryJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
