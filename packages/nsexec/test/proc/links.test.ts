import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { spawnNative } from "../../src/child.js";
import { parseProcessLink, readProcessLink } from "../../src/proc/index.js";

test("a working folder that was removed is seen as deleted", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "nsexec-links-")));
  const child = spawnNative({ file: "/bin/sleep", argv: ["sleep", "1000"], cwd: folder });
  try {
    expect(await readProcessLink(child.pid, "cwd")).toEqual({ path: folder, deleted: false });
    rmSync(folder, { recursive: true });
    expect(await readProcessLink(child.pid, "cwd")).toEqual({ path: folder, deleted: true });
    expect((await readProcessLink(child.pid, "exe")).path).toMatch(/\/(sleep|coreutils|busybox)$/);
  } finally {
    child.kill("SIGKILL");
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
  }
});

test("only the mark at the very end counts", () => {
  expect(parseProcessLink("/a (deleted)/b")).toEqual({ path: "/a (deleted)/b", deleted: false });
});
