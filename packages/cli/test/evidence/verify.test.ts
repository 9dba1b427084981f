import { appendFile, cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatManifest, listContent, sumFiles } from "../../src/evidence/manifest.js";
import { verifyEvidence } from "../../src/evidence/verify.js";
import { goodRun, writeRun } from "../support/run-fixture.js";

let dir: string;
let run: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "drums-verify-"));
  run = join(dir, "run");
  await writeRun(run, goodRun());
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** A copy of the good attempt with one thing done to it. */
async function spoiled(spoil: (attempt: string) => Promise<unknown>) {
  const copy = await mkdtemp(join(dir, "copy-"));
  await cp(join(run, "attempts/001"), copy, { recursive: true });
  await spoil(copy);
  const report = await verifyEvidence(copy);
  await rm(copy, { recursive: true });
  const [attempt] = report.attempts;
  if (attempt === undefined) throw new Error("no attempt was verified");
  return { ok: report.ok, ...attempt };
}

/** Writes the manifest anew, as one would who wants a change to go unseen. */
async function reseal(attempt: string): Promise<void> {
  const sums = await sumFiles(attempt, (await listContent(attempt)).files);
  await writeFile(join(attempt, "manifest.sha256"), formatManifest(sums));
}

test("a whole run is verified from its folder and from its attempt's", async () => {
  for (const path of [run, join(run, "attempts/001")]) {
    const report = await verifyEvidence(path);
    expect(report.attempts[0]).toMatchObject({ manifestFaults: [], fileFaults: [], differences: [] });
    expect(report).toMatchObject({ ok: true });
  }
});

test("one changed byte in any file of the evidence, the manifest included, is found", async () => {
  const small = join(dir, "small");
  const { attempt } = await writeRun(small, goodRun(1));
  const { files } = await listContent(attempt.path);
  expect(files.length).toBeGreaterThan(40);
  for (const file of [...files, "manifest.sha256"]) {
    const path = join(attempt.path, file);
    const before = await readFile(path);
    if (before.length === 0) continue;
    const at = Math.floor(before.length / 2);
    const changed = Buffer.from(before);
    // The bit that tells upper case from lower: JSON and a careless reader of sums would not mind it.
    changed[at] = (before[at] ?? 0) ^ 0x20;
    await writeFile(path, changed);
    const report = await verifyEvidence(small).finally(() => writeFile(path, before));
    expect(report.ok, `${file} byte ${at}`).toBe(false);
    if (file !== "manifest.sha256")
      expect(report.attempts[0]?.fileFaults).toEqual([{ path: file, fault: "changed" }]);
  }
  expect((await verifyEvidence(small)).ok).toBe(true);
});

test("missing, added, emptied and linked files are each named", async () => {
  const missing = await spoiled((attempt) => rm(join(attempt, "dump.log")));
  expect(missing.fileFaults).toEqual([{ path: "dump.log", fault: "missing" }]);
  const added = await spoiled((attempt) => writeFile(join(attempt, "more.txt"), ""));
  expect(added.fileFaults).toEqual([{ path: "more.txt", fault: "unlisted" }]);
  const emptied = await spoiled((attempt) => writeFile(join(attempt, "dump.log"), ""));
  expect(emptied.fileFaults).toEqual([{ path: "dump.log", fault: "changed" }]);
  const linked = await spoiled((attempt) => symlink("/etc/hostname", join(attempt, "link")));
  expect(linked.fileFaults).toEqual([{ path: "link", fault: "not a file" }]);
  const folder = await spoiled((attempt) => symlink("/etc", join(attempt, "folder")));
  expect(folder.fileFaults).toEqual([{ path: "folder", fault: "not a file" }]);
  for (const report of [missing, added, emptied, linked, folder])
    expect(report).toMatchObject({ ok: false, intact: false });
});

test("a manifest that is missing, loose or out of order is not trusted", async () => {
  const path = (attempt: string) => join(attempt, "manifest.sha256");
  const gone = await spoiled((attempt) => rm(path(attempt)));
  expect(gone.manifestFaults).toEqual([expect.stringContaining("never sealed")]);
  const loose = await spoiled((attempt) => appendFile(path(attempt), "\n"));
  expect(loose.manifestFaults).not.toEqual([]);
  const swapped = await spoiled(async (attempt) => {
    const [first, second, ...rest] = (await readFile(path(attempt), "utf8")).split("\n");
    await writeFile(path(attempt), [second, first, ...rest].join("\n"));
  });
  expect(swapped.manifestFaults).toEqual([expect.stringContaining("not in order")]);
  expect(gone.ok || loose.ok || swapped.ok).toBe(false);
});

test("a forged claims.json, and a forged record with a fresh manifest, do not agree with each other", async () => {
  const forged = await spoiled(async (attempt) => {
    const path = join(attempt, "teardown.json");
    await writeFile(path, (await readFile(path, "utf8")).replace('"loops": []', '"loops": ["loop3"]'));
    await reseal(attempt);
  });
  expect(forged.fileFaults).toEqual([]);
  expect(forged.differences).toEqual([
    {
      id: "nothing-left",
      recorded: expect.stringContaining("established"),
      computed: "failed; loops left: loop3",
    },
  ]);
  const dropped = await spoiled(async (attempt) => {
    const path = join(attempt, "claims.json");
    const claims = JSON.parse(await readFile(path, "utf8"));
    await writeFile(path, JSON.stringify({ ...claims, claims: claims.claims.slice(1), parity: [] }));
    await reseal(attempt);
  });
  expect(dropped.differences.map(({ id, recorded }) => [id, recorded])).toContainEqual([
    "image-verified",
    "absent",
  ]);
  expect(forged.ok || dropped.ok).toBe(false);
});

test("a failed attempt stays and is shown; the run stands by its last attempt", async () => {
  const twice = join(dir, "twice");
  const bad = goodRun();
  bad.delete("dump.json");
  await writeRun(twice, bad, { failing: { step: "dump", error: new Error("no") } });
  expect(await verifyEvidence(twice)).toMatchObject({
    ok: false,
    attempts: [{ intact: true, established: false }],
  });
  await writeRun(twice, goodRun());
  const report = await verifyEvidence(twice);
  expect(report.ok).toBe(true);
  expect(report.attempts.map(({ attempt, established }) => [attempt, established])).toEqual([
    [1, false],
    [2, true],
  ]);
});

test("an attempt that was removed leaves a gap that shows", async () => {
  const gap = join(dir, "gap");
  const bad = goodRun(1);
  bad.delete("dump.json");
  await writeRun(gap, bad);
  await writeRun(gap, goodRun(1));
  expect(await verifyEvidence(gap)).toMatchObject({ ok: true, missingAttempts: [] });
  await rm(join(gap, "attempts/001"), { recursive: true });
  expect(await verifyEvidence(gap)).toMatchObject({ ok: false, missingAttempts: [1] });
});

test("an unknown claim fails no run, and is not called established", async () => {
  const none = join(dir, "none");
  await writeRun(none, goodRun(0));
  const report = await verifyEvidence(none);
  expect(report.ok).toBe(true);
  expect(report.attempts[0]?.established).toBe(false);
});

test("a folder that is no evidence is a usage fault that says what to name", async () => {
  const empty = await mkdtemp(join(dir, "empty-"));
  for (const path of [empty, join(empty, "nowhere")])
    await expect(verifyEvidence(path)).rejects.toMatchObject({
      code: "NOT_EVIDENCE",
      exitCode: 2,
      where: path,
    });
  expect(await readdir(empty)).toEqual([]);
});
