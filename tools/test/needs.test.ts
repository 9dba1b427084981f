import { expect, test } from "vitest";
import { unmet } from "../testing/needs.js";

test("a need that is met says nothing, one that is not says what is missing", () => {
  expect(unmet("program:sh")).toBeUndefined();
  expect(unmet("program:drums-no-such-program")).toBe("drums-no-such-program is not on PATH");
  expect(unmet("file:/proc/self/stat")).toBeUndefined();
  expect(unmet("file:/no/such/file")).toBe("/no/such/file is missing");
});
