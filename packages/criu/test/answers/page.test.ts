import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderPage } from "./page.js";
import { readRecord } from "./record.js";

const PAGE = new URL("../../../../docs/criu-answers.md", import.meta.url);

test("docs/criu-answers.md is what the record gives (DRUMS_RECORD=1 writes it)", () => {
  const page = renderPage(readRecord());
  if (process.env.DRUMS_RECORD === "1") writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, "utf8")).toBe(page);
});
