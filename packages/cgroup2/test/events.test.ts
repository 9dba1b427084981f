import { expect, test } from "vitest";
import { parseEvents, parseFlatKeyed, waitForEvents } from "../src/events.js";
import { realFiles } from "../src/files.js";
import { parsePressure } from "../src/stats.js";

test("cgroup.events is read as two facts", () => {
  expect(parseEvents("populated 1\nfrozen 0\n")).toEqual({ populated: true, frozen: false });
  expect(parseEvents("populated 0\nfrozen 1\n")).toEqual({ populated: false, frozen: true });
});

test("a flat-keyed file is read as numbers", () => {
  expect(parseFlatKeyed("usage_usec 12\nuser_usec 3\n")).toEqual({ usage_usec: 12, user_usec: 3 });
  expect(parseFlatKeyed("")).toEqual({});
});

test("a pressure file is read with both of its lines", () => {
  const text =
    "some avg10=1.50 avg60=0.25 avg300=0.00 total=1234\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
  expect(parsePressure(text)).toEqual({
    some: { avg10: 1.5, avg60: 0.25, avg300: 0, totalUsec: 1234 },
    full: { avg10: 0, avg60: 0, avg300: 0, totalUsec: 7 },
  });
});

test("where no watch can be had the file is polled (a fake that answers for a folder that is not there)", async () => {
  const answers = ["populated 1\nfrozen 0\n", "populated 1\nfrozen 0\n", "populated 0\nfrozen 0\n"];
  await waitForEvents({
    files: { ...realFiles, read: () => answers.shift() ?? "" },
    folder: "/nonexistent",
    until: ({ populated }) => !populated,
    timeoutMs: 5000,
    what: "not empty",
    hint: "",
  });
  expect(answers).toEqual([]);
});
