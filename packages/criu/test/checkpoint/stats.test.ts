import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { stats_entrySchema } from "../../src/gen/stats_pb.js";
import { parseDumpStats } from "../../src/index.js";

function image(frozenTime: number): Buffer {
  const entry = create(stats_entrySchema, {
    dump: {
      freezingTime: 500,
      frozenTime,
      memdumpTime: 2000,
      memwriteTime: 1000,
      pagesScanned: 1n,
      pagesSkippedParent: 0n,
      pagesWritten: 86n,
      pagesLazy: 0n,
    },
  });
  const bytes = toBinary(stats_entrySchema, entry);
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0x55105940, 0);
  head.writeUInt32LE(0x57093306, 4);
  head.writeUInt32LE(bytes.length, 8);
  return Buffer.concat([head, bytes]);
}

test("times are given in milliseconds", () => {
  expect(parseDumpStats(image(72_612))).toEqual({
    frozenMs: 72.612,
    freezingMs: 0.5,
    memoryDumpMs: 2,
    memoryWriteMs: 1,
    pagesWritten: 86,
  });
});

test("anything but a statistics image is not one", () => {
  expect(parseDumpStats(Buffer.alloc(0))).toBeUndefined();
  expect(parseDumpStats(Buffer.from("some text that is long enough"))).toBeUndefined();
});
