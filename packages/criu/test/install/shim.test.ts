import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterEach, beforeEach, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { compileShim, lacksResourceCapability, readCapEff } from "../../src/install/shim.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drums-shim-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("CAP_SYS_RESOURCE is bit 24", () => {
  expect(lacksResourceCapability(1n << 24n)).toBe(false);
  expect(lacksResourceCapability(~(1n << 24n) & 0x1ffffffffffn)).toBe(true);
});

test("this process's effective capabilities are read", async () => {
  expect(await readCapEff()).toBeTypeOf("bigint");
});

/** Reads the limits of its parent, a process of another uid, as CRIU does: by syscall(2). */
const PROBE = `
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) {
  unsigned long out[2] = {0, 0}, set[2] = {1, 1};
  long read = syscall(SYS_prlimit64, atol(argv[1]), 7, 0, out);
  long write = syscall(SYS_prlimit64, atol(argv[1]), 7, set, 0);
  printf("%ld %lu %lu %ld %ld\\n", read, out[0], out[1], write, syscall(SYS_getppid) == getppid() ? 1L : 0L);
}`;

testNeeding(
  ["root", "program:cc", "program:setpriv", "program:prlimit"],
  "a refused read of limits is answered from /proc, a set stays refused, other calls pass through",
  async () => {
    const shim = join(folder, "shim.so");
    await compileShim(shim);
    await execa("cc", ["-x", "c", "-o", join(folder, "probe"), "-"], { input: PROBE });
    await execa("chmod", ["755", folder]);
    const target = execa(
      "setpriv",
      ["--reuid=65534", "--clear-groups", "prlimit", "--nofile=111:222", "sleep", "100"],
      {
        reject: false,
      },
    );
    try {
      await new Promise((resolve) => setTimeout(resolve, 300));
      const unprivileged = ["--reuid=12345", "--regid=12345", "--clear-groups", "--bounding-set=-all"];
      const run = (env: Record<string, string>) =>
        execa("setpriv", [...unprivileged, join(folder, "probe"), String(target.pid)], { env });
      expect((await run({})).stdout).toBe("-1 0 0 -1 1");
      expect((await run({ LD_PRELOAD: shim })).stdout).toBe("0 111 222 -1 1");
    } finally {
      target.kill("SIGKILL");
      await target;
    }
  },
);
