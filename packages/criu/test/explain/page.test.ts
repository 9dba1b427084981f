import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FAILURES } from "../../src/index.js";
import { renderPage } from "./page.js";

const PAGE = new URL("../../../../docs/criu-failures.md", import.meta.url);

test("docs/criu-failures.md is what the rules give (DRUMS_RECORD=1 writes it)", () => {
  const page = renderPage(FAILURES);
  if (process.env.DRUMS_RECORD === "1") writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, "utf8")).toBe(page);
});
