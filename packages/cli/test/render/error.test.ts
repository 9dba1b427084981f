import { CriuError } from "@drums/criu";
import { expect, test } from "vitest";
import { DrumsError, EXIT } from "../../src/errors.js";
import { errorDocument, exitCodeOf, renderError } from "../../src/render/error.js";

const plain = (_colour: string, text: string) => text;

test("an error says what, where, why and what to do", () => {
  const error = new DrumsError({
    code: "NO_LOOP",
    exitCode: EXIT.blocker,
    what: "no loop device is free",
    where: "/dev/loop-control",
    why: "all 8 are in use",
    hint: "detach one with `losetup -d`",
  });
  expect(renderError(error, plain, {})).toBe(
    [
      "drums: no loop device is free [NO_LOOP]",
      "  where:  /dev/loop-control",
      "  why:    all 8 are in use",
      "  to do:  detach one with `losetup -d`",
      "",
    ].join("\n"),
  );
  expect(exitCodeOf(error)).toBe(3);
  expect(error.message).toBe("no loop device is free (/dev/loop-control): all 8 are in use");
});

test("another package's error keeps its code, path and hint", () => {
  const error = Object.assign(new Error("digest differs"), {
    code: "IMAGE_DIGEST_MISMATCH",
    path: "/images/a.qcow2",
    hint: "fetch the image again",
  });
  expect(errorDocument(error)).toEqual({
    code: "IMAGE_DIGEST_MISMATCH",
    what: "digest differs",
    where: "/images/a.qcow2",
    hint: "fetch the image again",
  });
  expect(renderError(error, plain, {})).not.toContain("    at ");
  expect(exitCodeOf(error)).toBe(4);
});

test("a bug shows its stack, and so does any error with DRUMS_DEBUG", () => {
  expect(renderError(new TypeError("x is not a function"), plain, {})).toContain("    at ");
  const error = new DrumsError({ code: "X", what: "y" });
  expect(renderError(error, plain, { DRUMS_DEBUG: "1" })).toContain("    at ");
  expect(errorDocument("just a string")).toEqual({ code: "UNEXPECTED", what: "just a string" });
});

test("an error of CRIU's shows its log's own lines", () => {
  const error = new CriuError("DUMP_FAILED", "CRIU's dump failed", {
    hint: "do this",
    log: { file: "/x/dump.log", lines: ["Error (criu/a.c:1): one", "Error (criu/b.c:2): \u001b[31mtwo"] },
  });
  expect(errorDocument(error)).toMatchObject({ log: { file: "/x/dump.log", lines: { length: 2 } } });
  const text = renderError(error, plain, {});
  expect(text).toContain("  log:    Error (criu/a.c:1): one\n");
  expect(text).not.toContain("\u001b");
});
