import { describe, expect, test } from "vitest";
import { archiveFor, parseArchives, parseCodename } from "../../src/install/archive.js";

const LISTED = `http://archive.example/debian/|bookworm|main|Debian
http://archive.example/debian/|bookworm|main|Debian
http://archive.example/debian/|bookworm-updates|main|Debian
http://security.test/debian-security/|bookworm-security|main|Debian
http://other.test/|stable|main|Other
`;

test("repositories are read once each from apt's own list", () => {
  const archives = parseArchives(LISTED);
  expect(archives).toHaveLength(4);
  expect(archives[0]).toEqual({
    uri: "http://archive.example/debian/",
    release: "bookworm",
    component: "main",
    origin: "Debian",
  });
});

test("a field that apt leaves unexpanded before its first update counts as unknown", () => {
  expect(parseArchives("http://archive.example/debian/|bookworm|main|$(ORIGIN)")[0]?.origin).toBe("");
});

describe("the archive of a suite", () => {
  const archives = parseArchives(LISTED);

  test("is the one configured for that very suite", () => {
    expect(archiveFor("bookworm-security", { archives, codename: "bookworm" })).toBe(
      "http://security.test/debian-security/",
    );
  });

  test("is Debian's main archive for a suite that is not configured", () => {
    expect(archiveFor("forky", { archives, codename: "bookworm" })).toBe("http://archive.example/debian/");
  });

  test("is never another vendor's", () => {
    const others = parseArchives("http://other.test/|stable|main|Other");
    expect(() => archiveFor("forky", { archives: others, codename: "stable" })).toThrowError(
      expect.objectContaining({ code: "NO_DEBIAN_ARCHIVE", hint: expect.stringContaining("debsFolder") }),
    );
  });
});

test("the code name is read with and without quotes", () => {
  expect(parseCodename("ID=debian\nVERSION_CODENAME=bookworm\n")).toBe("bookworm");
  expect(parseCodename('VERSION_CODENAME="trixie"\n')).toBe("trixie");
  expect(parseCodename("ID=debian\n")).toBe("");
});
