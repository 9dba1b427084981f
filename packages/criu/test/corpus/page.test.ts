import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { blindCases } from "../../src/audit/blind-spots.js";
import { FAILURES, RULES } from "../../src/index.js";
import { agrees } from "./outcome.js";
import { matrixPage, rulesPage } from "./page.js";
import { provenRules, readRecords } from "./record.js";

const DOCS = new URL("../../../../docs/", import.meta.url);
const PROVEN = new URL("../../src/audit/proven.json", import.meta.url);

for (const [name, render] of [
  ["criu-rules.md", rulesPage],
  ["criu-matrix.md", matrixPage],
] as const)
  test(`docs/${name} is what rules and records give (DRUMS_RECORD=1 writes it)`, () => {
    const page = render(readRecords());
    if (process.env.DRUMS_RECORD === "1") writeFileSync(new URL(name, DOCS), page);
    expect(readFileSync(new URL(name, DOCS), "utf8")).toBe(page);
  });

test("where a rule is proven is what the records give", () => {
  expect(JSON.parse(readFileSync(PROVEN, "utf8"))).toEqual(provenRules(readRecords()));
});

test("in every record the audit was right, save for what /proc does not show", () => {
  const wrong = readRecords().flatMap(({ kernel, versions }) =>
    Object.entries(versions).flatMap(([version, cases]) =>
      Object.entries(cases)
        .filter(([, { audit, outcome }]) => audit !== undefined && !agrees(audit.prediction, outcome))
        .map(([id]) => `${version} on ${kernel}: ${id}`),
    ),
  );
  const blind = readRecords().flatMap(({ kernel, versions }) =>
    Object.entries(versions).flatMap(([version, cases]) =>
      blindCases(version)
        .filter((id) => cases[id]?.audit !== undefined)
        .map((id) => `${version} on ${kernel}: ${id}`),
    ),
  );
  expect(wrong.sort()).toEqual(blind.sort());
});

test("every refusal of the records is explained by a rule", () => {
  const rules = new Set(FAILURES.map(({ id }) => id));
  const unexplained = readRecords().flatMap(({ kernel, versions }) =>
    Object.entries(versions).flatMap(([version, cases]) =>
      Object.entries(cases)
        .filter(([, { outcome }]) => outcome.kind.endsWith("refused") && !rules.has(outcome.detail ?? ""))
        .map(([id, { outcome }]) => `${version} on ${kernel}: ${id}: ${outcome.detail}`),
    ),
  );
  expect(unexplained).toEqual([]);
});

test("every rule that CRIU decides is proven by a case", () => {
  const proven = new Set(Object.keys(provenRules(readRecords())));
  const unproven = Object.keys(RULES).filter((rule) => !proven.has(rule));
  // A slave of the host's needs a host's shared mount, much data in a tmpfs is no object, the list is not CRIU's, and
  // an interface without a process that holds it is the network's own tests' matter.
  expect(unproven.sort()).toEqual([
    "mount-field-record",
    "mount-propagation",
    "net-interface",
    "tmpfs-bytes",
  ]);
});
