import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { dump, openKernelCache } from "../src/index.js";
import { kernelCacheKey } from "../src/kernel-cache.js";
import { CRIU_NEEDS, testCriu } from "./helpers/criu.js";
import { launchTiny, until } from "./helpers/session.js";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "drums-kernel-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

testNeeding(
  CRIU_NEEDS,
  "what one criu found out of the kernel serves the next, in a /run of its own",
  async () => {
    const criu = await testCriu();
    const session = await launchTiny();
    try {
      await until("the count", async () => Number(await session.read("count")) > 1 || undefined);
      const dumped = async (name: string) => {
        const cache = await openKernelCache(criu, { home });
        await dump({
          criu,
          pid: session.pid,
          imagesDir: join(home, name),
          logLevel: 4,
          start: { mounts: cache.mounts },
          onNotify: ({ stage, criuPid }) => (stage === "pre-dump" ? cache.keep(criuPid) : undefined),
        });
        return { warm: cache.warm };
      };
      expect(await dumped("first")).toEqual({ warm: false });
      expect(await readdir(join(home, "criu", "kernel"))).toEqual([`${await kernelCacheKey(criu)}.kdat`]);
      expect(await dumped("second")).toEqual({ warm: true });
      expect(await readFile(join(home, "first", "dump.log"), "utf8")).toContain("criu.kdat does not exist");
      expect(await readFile(join(home, "second", "dump.log"), "utf8")).toContain(
        "Loaded kdat cache from /run/criu.kdat",
      );
    } finally {
      await session.end();
    }
  },
);
