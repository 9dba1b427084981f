import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { assertMergeable, untilMerged } from "../../src/tuning/index.js";

let sys: string;
beforeEach(async () => {
  sys = await mkdtemp(join(tmpdir(), "drums-ksm-"));
  await mkdir(join(sys, "mm/ksm"), { recursive: true });
  await says({ run: 0, full_scans: 10, pages_sharing: 0 });
});
afterEach(() => rm(sys, { recursive: true }));

async function says(values: Readonly<Record<string, number>>): Promise<void> {
  for (const [name, value] of Object.entries(values))
    await writeFile(join(sys, "mm/ksm", name), `${value}\n`);
}

test("memory is not merged by a kernel that is too old, has no KSM, or does not run it", async () => {
  const ask = (kernel: string, starts: boolean) => assertMergeable({ sys, kernel, starts });
  await expect(ask("6.6.30", true)).rejects.toMatchObject({ code: "MERGE_UNAVAILABLE", exitCode: 3 });
  await expect(ask("6.12.0", false)).rejects.toMatchObject({ code: "MERGE_OFF", exitCode: 3 });
  await ask("6.7.0-arch", true);
  await says({ run: 1 });
  await ask("7.1.2", false);
  await rm(join(sys, "mm/ksm/run"));
  await expect(ask("6.12.0", true)).rejects.toMatchObject({ code: "MERGE_UNAVAILABLE" });
});

test("merging has settled when some rounds brought hardly more", async () => {
  let settled = false;
  const waiting = untilMerged({ sys, pollMs: 5, timeoutMs: 10_000 }).then((ms) => {
    settled = true;
    return ms;
  });
  await says({ full_scans: 11, pages_sharing: 5000 });
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(settled).toBe(false);
  await says({ full_scans: 14 });
  expect(await waiting).toBeGreaterThan(50);
});

test("what does not settle in time is told so", async () => {
  expect(await untilMerged({ sys, pollMs: 2, timeoutMs: 20 })).toBeUndefined();
});
