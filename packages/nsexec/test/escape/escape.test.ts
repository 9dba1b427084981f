import { describe, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { PROFILES, withSession } from "../support/session.js";
import { ATTEMPTS, type AttemptName, KNOWN_HOLES } from "./catalogue.js";
import { differences, readRecord, record } from "./record.js";
import { makeAttempts, type Outcomes, plantAttempts } from "./run.js";

describe.each(PROFILES)("attempts to get out of a %s session", (profile) => {
  for (const [who, uid] of [
    ["user", 1000],
    ["root", 0],
  ] as const)
    testNeeding(
      ["root", "program:gcc"],
      `by ${who} give what the record says, and none succeeds that is no known hole`,
      async () => {
        await withSession(
          profile,
          async ({ init, session: { initPid, startTime }, stage: { folder } }) => {
            const layer = `${folder}/lower`;
            const target = { init, initPid, startTime, uid, layer, upper: `${folder}/upper` };
            const outcomes = await makeAttempts(target);
            record(`${profile} session ${who}`, outcomes);
            expect(succeeded(outcomes)).toEqual(allowed(profile, outcomes));
            expect(differences(`${profile} session ${who}`, outcomes)).toEqual([]);
          },
          {},
          ({ folder }) => plantAttempts(`${folder}/lower`),
        );
      },
      60_000,
    );
});

test("the record holds every attempt in every kind of session, at least 45, and hardened lets none through", () => {
  const { outcomes } = readRecord();
  expect(Object.keys(outcomes).sort()).toHaveLength(8);
  const names = Object.keys(ATTEMPTS).sort();
  expect(names.length).toBeGreaterThanOrEqual(45);
  for (const [column, seen] of Object.entries(outcomes)) {
    expect(Object.keys(seen).sort(), column).toEqual(names);
    if (column.startsWith("hardened")) expect(succeeded(seen), column).toEqual([]);
  }
});

test("every known hole is one that the record shows", () => {
  const shown = Object.values(readRecord().outcomes).flatMap((seen) => succeeded(seen));
  expect(Object.keys(KNOWN_HOLES).sort()).toEqual([...new Set(shown)].sort());
});

function succeeded(outcomes: Outcomes): AttemptName[] {
  return (Object.keys(outcomes) as AttemptName[]).filter((name) => outcomes[name] === "SUCCEEDS");
}

function allowed(profile: string, outcomes: Outcomes): AttemptName[] {
  return profile === "hardened" ? [] : succeeded(outcomes).filter((name) => name in KNOWN_HOLES);
}
