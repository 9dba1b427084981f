import { statSync } from "node:fs";
import { DELETED } from "./descriptors.js";
import { numbersOf } from "./devices.js";
import { readLink } from "./proc.js";
import type { Snapshot } from "./snapshot.js";

/**
 * The files and folders of a session that are deleted and still open or a working directory. Looked for at the first
 * question only: most sessions have no watch that asks.
 */
export function deletedFiles({ tree, proc }: Snapshot): (device: number, inode: number) => boolean {
  let found: Set<string> | undefined;
  const collect = () => {
    const paths = tree.flatMap(({ pid, descriptors }) => [
      `${proc}/${pid}/cwd`,
      ...descriptors
        .filter(({ target }) => target.endsWith(DELETED))
        .map(({ fd }) => `${proc}/${pid}/fd/${fd}`),
    ]);
    return new Set(paths.filter((path) => readLink(path)?.endsWith(DELETED)).flatMap(keyOf));
  };
  return (device, inode) => {
    found ??= collect();
    return found.has(`${device >>> 20}:${device & 0xfffff}:${inode}`);
  };
}

function keyOf(path: string): string[] {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return [];
  const { major, minor } = numbersOf(file.dev);
  return [`${major}:${minor}:${file.ino}`];
}
