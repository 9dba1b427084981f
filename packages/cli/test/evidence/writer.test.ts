import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseEvents, type StepEvent } from "../../src/evidence/events.js";
import { openEvidence, type RunFacts } from "../../src/evidence/writer.js";

const FACTS: RunFacts = {
  drums: "0.1.0",
  image: "/images/desk.qcow2",
  expectedSha256: "ab".repeat(32),
  desktop: "openbox",
  rules: "default",
  task: "terminal",
  siblings: 3,
  profile: "hardened",
};

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "drums-evidence-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const begin = async (onStep?: (event: StepEvent) => void) =>
  (await openEvidence(dir, FACTS, onStep ? { onStep } : {})).beginAttempt();

test("attempts are numbered above the highest that exists, gaps and strangers notwithstanding", async () => {
  await mkdir(join(dir, "attempts", "007"), { recursive: true });
  await mkdir(join(dir, "attempts", "notes"));
  const run = await openEvidence(dir, FACTS);
  const [first, second] = [await run.beginAttempt(), await run.beginAttempt()];
  expect([first.number, second.number]).toEqual([8, 9]);
  expect(await readdir(join(dir, "attempts", "007"))).toEqual([]);
  await Promise.all([first.close(), second.close()]);
});

test("two writers that begin at once get two attempts", async () => {
  const runs = await Promise.all([openEvidence(dir, FACTS), openEvidence(dir, FACTS)]);
  const attempts = await Promise.all(runs.map((run) => run.beginAttempt()));
  expect(attempts.map(({ number }) => number).sort()).toEqual([1, 2]);
  await Promise.all(attempts.map((attempt) => attempt.close()));
});

test("run.json repeats the facts with the attempt's number", async () => {
  const attempt = await begin();
  const run: unknown = JSON.parse(await readFile(join(attempt.path, "run.json"), "utf8"));
  expect(run).toMatchObject({ ...FACTS, version: 1, attempt: 1 });
  await attempt.close();
});

test("a record is never overwritten", async () => {
  const attempt = await begin();
  await attempt.text("dump.log", "first");
  await expect(attempt.text("dump.log", "second")).rejects.toMatchObject({ code: "EVIDENCE_EXISTS" });
  expect(await readFile(join(attempt.path, "dump.log"), "utf8")).toBe("first");
  await attempt.close();
});

test.each(["../x", "a/../b", "/etc/x", "a//b", "", ".hidden", "a/.b", "new\nline", "a\\b", "a b"])(
  "the name %j is refused",
  async (name) => {
    const attempt = await begin();
    await expect(attempt.text(name, "x")).rejects.toMatchObject({ code: "EVIDENCE_NAME" });
    await attempt.close();
  },
);

test("bigints are kept as decimal strings", async () => {
  const attempt = await begin();
  await attempt.json("x.json", { inode: 2n ** 60n });
  expect(JSON.parse(await readFile(join(attempt.path, "x.json"), "utf8"))).toEqual({
    inode: "1152921504606846976",
  });
  await attempt.close();
});

test("a step's start is on disk while it runs, its end with outcome after", async () => {
  const attempt = await begin();
  const log = () => readFile(join(attempt.path, "events.jsonl"), "utf8");
  const during = await attempt.step("mount", log);
  expect(parseEvents(during).events.map(({ step, event }) => [step, event])).toEqual([["mount", "start"]]);
  const failure = Object.assign(new Error("no free loop"), { code: "NO_LOOP", hint: "free one" });
  await expect(attempt.step("layers", () => Promise.reject(failure))).rejects.toBe(failure);
  const stop = () => AbortSignal.abort().throwIfAborted();
  await expect(attempt.step("boot", stop)).rejects.toThrow();
  const { events, faults } = parseEvents(await log());
  expect(faults).toEqual([]);
  expect(events.filter((event) => event.event === "end")).toMatchObject([
    { step: "mount", outcome: "ok" },
    {
      step: "layers",
      outcome: "failed",
      error: { message: "no free loop", code: "NO_LOOP", hint: "free one" },
    },
    { step: "boot", outcome: "interrupted" },
  ]);
  await attempt.close();
});

test("steps side by side leave whole lines, and a listener hears each event", async () => {
  const heard: StepEvent[] = [];
  const attempt = await begin((event) => heard.push(event));
  await Promise.all(Array.from({ length: 20 }, (_, n) => attempt.step(`restore/${n}`, async () => n)));
  const { events, faults } = parseEvents(await readFile(join(attempt.path, "events.jsonl"), "utf8"));
  expect(faults).toEqual([]);
  expect(events).toEqual(heard);
  expect(events).toHaveLength(40);
  await attempt.close();
});

test("a step that still runs at the close is written down as interrupted", async () => {
  const attempt = await begin();
  let finish = () => {};
  const running = attempt.step("dump", () => new Promise<void>((resolve) => (finish = resolve)));
  await attempt.close();
  finish();
  await running;
  const { events } = parseEvents(await readFile(join(attempt.path, "events.jsonl"), "utf8"));
  expect(events.at(-1)).toMatchObject({ step: "dump", event: "end", outcome: "interrupted" });
});

test("the manifest comes last, sorted, and sha256sum accepts it", async () => {
  const attempt = await begin();
  await attempt.file("screens/before.png", Uint8Array.of(1, 2, 3));
  await attempt.text("siblings/10/restore.log", "");
  await attempt.text("siblings/2/restore.log", "");
  await expect(attempt.step("audit", () => Promise.reject(new Error("refused")))).rejects.toThrow();
  await attempt.close();
  await attempt.close();
  const lines = (await readFile(join(attempt.path, "manifest.sha256"), "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => line.slice(66))).toEqual([
    "events.jsonl",
    "run.json",
    "screens/before.png",
    "siblings/10/restore.log",
    "siblings/2/restore.log",
  ]);
  const checked = execFileSync("sha256sum", ["-c", "manifest.sha256"], {
    cwd: attempt.path,
    encoding: "utf8",
  });
  expect(checked.match(/: OK$/gm)).toHaveLength(5);
  await expect(attempt.text("late.txt", "x")).rejects.toMatchObject({ code: "EVIDENCE_CLOSED" });
  await expect(attempt.step("late", () => {})).rejects.toMatchObject({ code: "EVIDENCE_CLOSED" });
});

test("a link in the folder is not followed into the manifest", async () => {
  const attempt = await begin();
  await symlink("/etc/hostname", join(attempt.path, "link"));
  await attempt.close();
  expect(await readFile(join(attempt.path, "manifest.sha256"), "utf8")).not.toContain("link");
});

test("a folder that cannot be made is told with what to do", async () => {
  const file = join(dir, "file");
  await writeFile(file, "");
  await expect(openEvidence(file, FACTS)).rejects.toMatchObject({
    code: "EVIDENCE_WRITE",
    where: file,
    hint: expect.stringContaining("--out"),
  });
});
