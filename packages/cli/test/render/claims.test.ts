import { expect, test } from "vitest";
import type { Claim } from "../../src/evidence/records/claims.js";
import { renderClaims, renderParity } from "../../src/render/claims.js";
import { durationText, paintFor, printable, widthOf, wrap } from "../../src/render/style.js";
import { KeptOutput } from "../support/output.js";

const plain = { width: 60, paint: (_colour: string, text: string) => text };

const claim = (status: Claim["status"], reasons: string[] = ["a reason"]): Claim => ({
  id: status,
  sentence: `This is a sentence that claims to be ${status} and is longer than a line.`,
  status,
  reasons,
  records: [],
});

const CLAIMS = (["established", "failed", "not reached", "unknown"] as const).map((status) => claim(status));

test("the table has a line for every claim, reasons for what is not established, and a count", () => {
  expect(renderClaims(CLAIMS, plain)).toMatchInlineSnapshot(`
    "✓ established  This is a sentence that claims to be
                   established and is longer than a line.
    ✗ failed       This is a sentence that claims to be failed
                   and is longer than a line.
                   - a reason
    · not reached  This is a sentence that claims to be not
                   reached and is longer than a line.
                   - a reason
    ? unknown      This is a sentence that claims to be unknown
                   and is longer than a line.
                   - a reason

    4 claims: 1 established, 1 failed, 1 not reached, 1 unknown
    "
  `);
});

test("reasons of what is established are shown where asked for, no more than asked", () => {
  const text = renderClaims([claim("established", ["one", "two", "three"])], { ...plain, reasons: 2 });
  expect(text).toContain("- two");
  expect(text).not.toContain("- three");
});

test.each([40, 57, 80, 200])("no line is longer than %i columns", (width) => {
  const long = claim("failed", ["x".repeat(300), "word ".repeat(50)]);
  const parity = [{ topic: "X server", status: "differs" as const, image: "y".repeat(99), session: "Xvfb" }];
  const lines = [renderClaims([long], { ...plain, width }), renderParity(parity, { ...plain, width })]
    .join("")
    .split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
});

test("parity rows say what the image has and what the session has", () => {
  const rows = renderParity(
    [
      { topic: "kernel", status: "differs", image: "6.5", session: "6.18" },
      { topic: "display manager", status: "same", image: "none", session: "none" },
    ],
    plain,
  );
  expect(rows).toBe("kernel           differs: image: 6.5; session: 6.18\ndisplay manager  same: none\n");
});

test("colours come on a terminal alone, and NO_COLOR and TERM=dumb turn them off", () => {
  const [terminal, pipe] = [new KeptOutput(true), new KeptOutput(false)];
  expect(paintFor(terminal, {})("red", "x")).toBe("\u001b[31mx\u001b[0m");
  expect(paintFor(terminal, { NO_COLOR: "" })("red", "x")).toContain("\u001b");
  for (const [output, env] of [
    [pipe, {}],
    [terminal, { NO_COLOR: "1" }],
    [terminal, { TERM: "dumb" }],
  ] as const)
    expect(paintFor(output, env)("red", "x")).toBe("x");
});

test("a record's control characters never reach the terminal", () => {
  const text = renderClaims([claim("failed", ["\u001b[2J\u0007evil\r\nline\u009b1m"])], plain);
  expect(text).toContain("\ufffd[2J\ufffdevil\ufffd line\ufffd1m");
  expect(printable("a\u0000b")).toBe("a\ufffdb");
});

test("widths and durations are made for people", () => {
  expect([
    widthOf(new KeptOutput(true, 20)),
    widthOf(new KeptOutput(true, 120)),
    widthOf(new KeptOutput()),
  ]).toEqual([40, 120, 100]);
  expect([0.4, 85, 999, 1234, 125_000].map(durationText)).toEqual([
    "0 ms",
    "85 ms",
    "999 ms",
    "1.2 s",
    "2 min 05 s",
  ]);
  expect(wrap("", 10)).toEqual([""]);
  expect(wrap("aaaa bbbb cccc", 9)).toEqual(["aaaa bbbb", "cccc"]);
});
