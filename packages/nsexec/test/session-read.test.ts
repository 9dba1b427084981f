import { expect, test } from "vitest";
import { type Readable, readBounded } from "../src/session-read.js";

/** A file that has `real` bytes when it is read: it changed since it was asked for its size. */
function changing(real: number): Readable & { asked: number } {
  return {
    asked: 0,
    async read(_buffer, _offset, length, position) {
      const bytesRead = Math.max(0, Math.min(length, real - position));
      this.asked += bytesRead;
      return { bytesRead };
    },
  };
}

test("a file that grows without end while it is read is refused, one byte past the cap", async () => {
  const file = changing(Number.POSITIVE_INFINITY);
  await expect(readBounded(file, "/f", { size: 10, maxBytes: 1 << 20 })).rejects.toMatchObject({
    code: "FILE_TOO_LARGE",
  });
  expect(file.asked).toBe((1 << 20) + 1);
});

test.each(["head", "tail"] as const)("the %s of a growing file never passes the cap", async (larger) => {
  const file = changing(Number.POSITIVE_INFINITY);
  expect(await readBounded(file, "/f", { size: 10, maxBytes: 1000, larger })).toHaveLength(1000);
  expect(file.asked).toBe(1000);
});

test("a file that grew a little, and one that grew a lot, is read whole", async () => {
  expect(await readBounded(changing(4095), "/f", { size: 10 })).toHaveLength(4095);
  expect(await readBounded(changing(900_000), "/f", { size: 10 })).toHaveLength(900_000);
});

test("a file that shrinks while it is read gives what there was", async () => {
  expect(await readBounded(changing(40), "/f", { size: 100 })).toHaveLength(40);
  expect(await readBounded(changing(0), "/f", { size: 5000, maxBytes: 100, larger: "tail" })).toHaveLength(0);
});
