import { readManifest } from "@drums/criu";
import type { Home } from "../home.js";
import { checkpointFolder, listCheckpoints } from "./store.js";

/** A checkpoint in `drums ps`. */
export interface CheckpointSummary {
  readonly name: string;
  readonly createdAt: string;
  readonly criu: string;
  readonly desktop: string;
  /** Of CRIU's images, without the upper. */
  readonly bytes: number;
}

/** All checkpoints of a home whose manifest can be read, by name. */
export async function summariseCheckpoints(home: Home): Promise<CheckpointSummary[]> {
  const names = await listCheckpoints(home);
  const summaries = names.map(async (name): Promise<CheckpointSummary | undefined> => {
    const manifest = await readManifest(checkpointFolder(home, name).path).catch(() => undefined);
    if (manifest === undefined) return undefined;
    const { createdAt, criu, session, images } = manifest;
    const bytes = images.reduce((sum, image) => sum + image.bytes, 0);
    return { name, createdAt, criu: criu.version, desktop: String(session.desktop ?? ""), bytes };
  });
  return (await Promise.all(summaries)).filter((summary) => summary !== undefined);
}
