import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const PACKAGES = fileURLToPath(new URL("../../packages/", import.meta.url));

/** Where a process's own view of files begins, in /proc: through these a session's links could lead the host. */
const INTO_A_PROCESS = /\}\/(root|cwd|exe|map_files)\b/;

/** Who may, and why. */
const ALLOWED: Readonly<Record<string, string>> = {
  "nsexec/src/session-files.ts": "the door itself",
  "criu/src/audit/deleted.ts": "stat of a magic link, which leads to the very folder",
  "criu/src/audit/inside.ts": "counts only what is on the very mount that was meant",
  "criu/src/kernel-cache.ts": "the root of CRIU, which is the host's own process",
  "cli/src/session/residue.ts": "reads where a link of a storage daemon leads, and opens nothing",
};

test("a session's files are reached by the host through one door alone", () => {
  const files = readdirSync(PACKAGES, { recursive: true, encoding: "utf8" }).filter((file) =>
    /^[^/]+\/src\/.*\.ts$/.test(file),
  );
  expect(files.length).toBeGreaterThan(100);
  const touching = files.filter((file) => INTO_A_PROCESS.test(readFileSync(join(PACKAGES, file), "utf8")));
  expect(touching.sort()).toEqual(Object.keys(ALLOWED).sort());
});
