import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openJournal, parseJournal, type Resource, readJournal } from "../../src/session/journal.js";

const cgroup: Resource = { kind: "cgroup", id: "drums/a", path: "/sys/fs/cgroup/drums/a" };
const init: Resource = { kind: "process", id: "init", pid: 4711 };

test("what was acquired and not released is held, oldest first", async () => {
  const folder = await mkdtemp(join(tmpdir(), "drums-journal-"));
  try {
    const journal = openJournal(join(folder, "journal.jsonl"));
    await journal.acquire(cgroup);
    await journal.acquire(init);
    expect(await readJournal(join(folder, "journal.jsonl"))).toEqual([cgroup, init]);
    await journal.release(cgroup);
    expect(await readJournal(join(folder, "journal.jsonl"))).toEqual([init]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a missing journal holds nothing", async () => {
  expect(await readJournal("/nonexistent/journal.jsonl")).toEqual([]);
});

test("a line torn by a crash hides neither the lines before it nor those after", async () => {
  const folder = await mkdtemp(join(tmpdir(), "drums-journal-"));
  try {
    const file = join(folder, "journal.jsonl");
    await openJournal(file).acquire(cgroup);
    await writeFile(file, '{"op":"acquire","resou', { flag: "a" });
    expect(await readJournal(file)).toEqual([cgroup]);
    await openJournal(file).acquire(init);
    expect(await readJournal(file)).toEqual([cgroup, init]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("any text parses to a list of resources and never throws", () => {
  fc.assert(fc.property(fc.string(), (text) => Array.isArray(parseJournal(text))));
});
