import { lstat, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initBinaryPath } from "@drums/nsexec";
import { afterEach, beforeEach, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { createHome, type Home, homeAt } from "../../src/home.js";
import { initLayer } from "../../src/layers/index.js";

let home: Home;
beforeEach(async () => {
  home = await createHome(homeAt(await mkdtemp(join(tmpdir(), "drums-layers-"))));
});
afterEach(() => rm(home.path, { recursive: true, force: true }));

testNeeding(
  ["root"],
  "the init layer holds PID 1's file, executable and root's, and nothing else",
  async () => {
    const { path } = await initLayer({ home });
    const entries = await readdir(path, { recursive: true });
    expect(entries.sort()).toEqual(["usr", "usr/lib", "usr/lib/drums", "usr/lib/drums/drums-init"]);
    const init = join(path, "usr/lib/drums/drums-init");
    expect((await readFile(init)).equals(await readFile(initBinaryPath()))).toBe(true);
    for (const entry of ["", ...entries]) {
      const { mode, uid, gid } = await lstat(join(path, entry));
      expect([entry, mode & 0o7777, uid, gid]).toEqual([entry, 0o755, 0, 0]);
    }
  },
);
