import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

/** sha256 of bytes, as lower-case hex. */
export function sha256(bytes: string | Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** sha256 of a file's content, or undefined where there is no such file. */
export async function sha256File(path: string): Promise<string | undefined> {
  try {
    return sha256(await readFile(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
