import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownLimits } from "../../src/index.js";

test("own limits are the hard ones, by setrlimit's names, and null where there is none", async () => {
  const proc = mkdtempSync(join(tmpdir(), "drums-limits-"));
  try {
    mkdirSync(join(proc, "self"));
    writeFileSync(
      join(proc, "self", "limits"),
      [
        "Limit                     Soft Limit           Hard Limit           Units     ",
        "Max cpu time              unlimited            unlimited            seconds   ",
        "Max open files            1024                 4096                 files     ",
        "Max something new         1                    2                    things    ",
        "",
      ].join("\n"),
    );
    expect(await ownLimits({ proc })).toEqual({ cpu: null, nofile: 4096 });
  } finally {
    rmSync(proc, { recursive: true });
  }
});
