import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CLAIM_RULES } from "../../src/evidence/claims/index.js";
import type { Claim } from "../../src/evidence/records/claims.js";
import { documentRecords, goodRun, type RunContent, withWriter, writeRun } from "../support/run-fixture.js";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "drums-writer-claims-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function claimsOf(content: RunContent): Promise<Map<string, Claim>> {
  const { outcome } = await writeRun(dir, content, { kind: { rules: "gnome", task: "writer" } });
  return new Map(outcome.claims.map((claim) => [claim.id, claim]));
}

const failed = (claims: Map<string, Claim>) =>
  [...claims.values()].filter(({ status }) => status === "failed").map(({ id }) => id);

/** Merges fields into a record of a run. */
function spoil(content: RunContent, name: string, change: (value: Record<string, unknown>) => object) {
  const value = content.get(name) as Record<string, unknown>;
  return content.set(name, { ...value, ...change(value) });
}

test("a run with Writer on GNOME makes every claim there is", async () => {
  const claims = await claimsOf(withWriter(goodRun()));
  expect([...claims.keys()]).toEqual(CLAIM_RULES.map(({ id }) => id));
  expect([...claims.values()].filter(({ status }) => status !== "established")).toEqual([]);
  expect(claims.get("documents")?.records).toContain("siblings/2/document.docx");
});

describe("the Overview", () => {
  test("shown in one sibling, or not told of, fails by the Shell's own word", async () => {
    const content = withWriter(goodRun());
    spoil(content, "siblings/2/shell.json", ({ bus }) => ({
      bus: { ...(bus as object), overviewActive: true },
    }));
    spoil(content, "siblings/3/shell.json", () => ({
      bus: { connected: false, shellOwned: false, mute: [] },
    }));
    const claims = await claimsOf(content);
    expect(failed(claims)).toEqual(["overview-left"]);
    expect(claims.get("overview-left")?.reasons).toEqual([
      "sibling 2: restored: OverviewActive is true",
      "sibling 3: restored: OverviewActive is not answered",
    ]);
  });
});

describe("a lock", () => {
  test.each<[string, (record: Record<string, unknown>) => object, RegExp]>([
    ["that the kernel does not list", () => ({ procLocks: "" }), /no living xterm holds a POSIX write lock/],
    ["on another file", () => ({ inode: "77" }), /inode 77/],
    [
      "of a process that is none of the application's",
      ({ procLocks }) => ({ procLocks: String(procLocks).replace("WRITE 5", "WRITE 4") }),
      /no living xterm/,
    ],
    [
      "that lets another program in",
      ({ attempt }) => ({ attempt: { ...(attempt as object), stdout: "granted\n" } }),
      /was answered "granted/,
    ],
    [
      "that nobody can take on any file proves nothing",
      ({ attempt }) => ({ attempt: { ...(attempt as object), control: "EACCES\n" } }),
      /on another file "EACCES/,
    ],
  ])("%s", async (_, change, says) => {
    const claims = await claimsOf(spoil(withWriter(goodRun()), "siblings/1/locks.json", change));
    expect(failed(claims)).toEqual(["locks-held"]);
    expect(claims.get("locks-held")?.reasons).toContainEqual(expect.stringMatching(says));
  });
});

describe("a document", () => {
  test("with another text than was typed fails, whatever the record says", async () => {
    const content = withWriter(goodRun());
    documentRecords(content, "siblings/2", "Sibling 1 was here");
    const claims = await claimsOf(content);
    expect(failed(claims)).toEqual(["documents"]);
    expect(claims.get("documents")?.reasons).toContainEqual(
      'sibling 2: its .odt holds "Sibling 1 was here", typed was "Sibling 2 was here"',
    );
  });

  test("that is not the recorded one, or is broken, fails", async () => {
    const content = withWriter(goodRun()).set("siblings/3/document.docx", Buffer.from("no document"));
    const claims = await claimsOf(content);
    expect(failed(claims)).toEqual(["documents"]);
    const reasons = claims.get("documents")?.reasons;
    expect(reasons).toContainEqual("sibling 3: its .docx is not the one recorded");
    expect(reasons).toContainEqual(expect.stringMatching(/sibling 3: its .docx is not valid: it is no zip/));
  });

  test("of the second generation that lacks its sibling's words fails that claim", async () => {
    const content = withWriter(goodRun());
    documentRecords(content, "second", "Its own sibling was here");
    expect(failed(await claimsOf(content))).toEqual(["second-generation"]);
  });

  test("that was never saved leaves the claim unreached", async () => {
    const content = withWriter(goodRun());
    content.delete("siblings/1/documents.json");
    expect((await claimsOf(content)).get("documents")?.status).toBe("not reached");
  });
});
