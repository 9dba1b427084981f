import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../src/program.js";
import { KeptOutput } from "../support/output.js";
import { goodRun, writeRun } from "../support/run-fixture.js";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "drums-verify-command-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function drums(...argv: string[]) {
  const [stdout, stderr] = [new KeptOutput(), new KeptOutput()];
  const { signal } = new AbortController();
  const status = await runProgram(argv, { stdout, stderr, env: {}, signal });
  return { status, stdout: stdout.text, stderr: stderr.text };
}

test("a good run is verified with status 0 and a table", async () => {
  await writeRun(dir, goodRun(1));
  const { status, stdout, stderr } = await drums("verify", dir, "--reasons", "1");
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^attempt 1: records whole; 28 claims: 28 established$/m);
  expect(stdout).toContain("✓ established  Each sibling holds the token of before the dump.");
  expect(stdout).toMatch(/- sibling 1: 0123456789abcdef/);
  expect(stdout).toMatch(/^kernel +differs: image: 6.1.0-image; session: 6.1.0-host, the host's$/m);
  expect(stdout).toMatch(/verified: .*\n$/);
});

test("a changed record ends with status 1 and is named, in text and in JSON", async () => {
  const { attempt } = await writeRun(dir, goodRun(1));
  await appendFile(join(attempt.path, "dump.log"), " ");
  const text = await drums("verify", dir);
  expect(text.status).toBe(1);
  expect(text.stdout).toContain("  - dump.log: changed");
  expect(text.stdout).toContain("not verified: 1 of 1 attempts");
  const { status, stdout } = await drums("verify", dir, "--json");
  expect(status).toBe(1);
  const [first] = JSON.parse(stdout).attempts;
  expect(first).toMatchObject({ intact: false, fileFaults: [{ path: "dump.log", fault: "changed" }] });
});

test("whole records whose claims failed end with status 1 as well", async () => {
  await writeRun(dir, goodRun(1).set("dump.log", "x"), { failing: { step: "dump", error: new Error("no") } });
  const { status, stdout } = await drums("verify", dir);
  expect(status).toBe(1);
  expect(stdout).toContain("the records are whole, and by them not every claim is established");
  expect(stdout).toContain("- step dump failed: no");
});

test("usage faults end with status 2", async () => {
  expect(await drums("verify", join(dir, "nowhere"))).toMatchObject({
    status: 2,
    stdout: "",
    stderr: expect.stringMatching(/no evidence of a run \[NOT_EVIDENCE\]\n {2}where: .*\n.*\n {2}to do:/),
  });
  expect((await drums("verify")).status).toBe(2);
  expect((await drums("verify", dir, "--frob")).status).toBe(2);
  expect((await drums("dance")).stderr).toContain("unknown command 'dance'");
  expect((await drums()).status).toBe(2);
});

test("help and version end with status 0", async () => {
  const help = await drums("--help");
  expect(help.status).toBe(0);
  expect(help.stdout).toContain("Exit status: 0 done, 1 a verdict failed");
  expect((await drums("--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
