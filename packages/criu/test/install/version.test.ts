import { expect, test } from "vitest";
import { parseVersion } from "../../src/install/find.js";
import { compareVersions } from "../../src/install/version.js";

test("versions are ordered by number, and a missing part counts as zero", () => {
  expect(compareVersions("4.2.1", "4.2")).toBeGreaterThan(0);
  expect(compareVersions("4.10", "4.9")).toBeGreaterThan(0);
  expect(compareVersions("3.17.1", "4.2")).toBeLessThan(0);
  expect(compareVersions("4.2", "4.2.0")).toBe(0);
});

test("the version is read from what criu prints", () => {
  expect(parseVersion("Version: 3.17.1\n")).toBe("3.17.1");
  expect(parseVersion("Version: 4.2\nGitID: v4.2\n")).toBe("4.2");
  expect(parseVersion("no such thing")).toBe("0");
});
