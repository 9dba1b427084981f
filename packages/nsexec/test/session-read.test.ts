import { expect, test } from "vitest";
import { type Readable, readBounded } from "../src/session-read.js";

/** A file that says it has `size` bytes and, when read, has `real` of them: it changed in between. */
function changing(size: number, real: number): Readable & { asked: number } {
  return {
    asked: 0,
    stat: async () => ({ size }),
    async read(_buffer, _offset, length, position) {
      const bytesRead = Math.max(0, Math.min(length, real - position));
      this.asked += bytesRead;
      return { bytesRead };
    },
  };
}

test("a file that grows without end while it is read is refused, one byte past the cap", async () => {
  const file = changing(10, Number.POSITIVE_INFINITY);
  await expect(readBounded(file, "/f", { maxBytes: 1 << 20 })).rejects.toMatchObject({
    code: "FILE_TOO_LARGE",
  });
  expect(file.asked).toBe((1 << 20) + 1);
});

test.each(["head", "tail"] as const)("the %s of a growing file never passes the cap", async (larger) => {
  const file = changing(10, Number.POSITIVE_INFINITY);
  expect(await readBounded(file, "/f", { maxBytes: 1000, larger })).toHaveLength(1000);
  expect(file.asked).toBe(1000);
});

test("a file that shrinks while it is read gives what there was", async () => {
  expect(await readBounded(changing(100, 40), "/f", {})).toHaveLength(40);
  expect(await readBounded(changing(5000, 0), "/f", { maxBytes: 100, larger: "tail" })).toHaveLength(0);
});
