import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { descendsFrom } from "../../src/audit/snapshot.js";

/** A fake /proc: of each process the stat file alone. */
let proc: string;
beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), "drums-proc-"));
});
afterEach(() => rmSync(proc, { recursive: true }));

function process(pid: number, ppid: number): void {
  mkdirSync(join(proc, String(pid)));
  const fields = ["S", ppid, pid, pid, ...Array.from({ length: 46 }, () => 0)];
  writeFileSync(join(proc, String(pid), "stat"), `${pid} (a b) ${fields.join(" ")}\n`);
}

test("a process forked after the tree was read descends from init by its parents", () => {
  process(1, 0);
  process(100, 1);
  process(101, 100);
  process(102, 101);
  expect(descendsFrom(100, 102, proc)).toBe(true);
});

test("one whose parents lead past init to the host does not", () => {
  process(1, 0);
  process(50, 1);
  process(51, 50);
  process(100, 1);
  expect(descendsFrom(100, 51, proc)).toBe(false);
});

test("one that was entered, with a parent that is not to be seen, does not", () => {
  process(51, 0);
  expect(descendsFrom(100, 51, proc)).toBe(false);
});

test("one that has ended is nobody's outsider", () => {
  expect(descendsFrom(100, 102, proc)).toBe(true);
});

test("a parent that is gone for good proves nothing in its favour", () => {
  process(102, 99);
  expect(descendsFrom(100, 102, proc)).toBe(false);
});
