import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { parseHexDump } from "../../src/image/disk-reader.js";
import { inspectImage } from "../../src/index.js";
import { makeRootDisk, toQcow2 } from "../helpers/disk.js";
import { temporaryFolder } from "../helpers/temp.js";

async function rootFolder(folder: string): Promise<string> {
  const root = join(folder, "root");
  await mkdir(join(root, "etc"), { recursive: true });
  await writeFile(join(root, "etc/hostname"), "inside\n");
  return root;
}

testNeeding(
  ["program:qemu-img", "program:qemu-io", "program:mke2fs"],
  "a raw disk and its zstd qcow2 are inspected alike, and left as they were",
  async () => {
    const folder = await temporaryFolder();
    const raw = await makeRootDisk(folder, await rootFolder(folder));
    const qcow2 = await toQcow2(raw, ["-c", "-o", "compression_type=zstd"]);
    const before = createHash("sha256")
      .update(await readFile(qcow2))
      .digest("hex");
    const ofRaw = await inspectImage(raw);
    const ofQcow2 = await inspectImage(qcow2);
    expect(ofRaw).toMatchObject({ format: "raw", journal: "clean", virtualBytes: 32 << 20 });
    expect(ofQcow2).toMatchObject({ format: "qcow2", journal: "clean", header: { compression: "zstd" } });
    expect(ofQcow2.table).toEqual(ofRaw.table);
    expect(ofQcow2.root).toMatchObject({ partition: { index: 2, filesystem: { kind: "ext4" } } });
    expect(
      createHash("sha256")
        .update(await readFile(qcow2))
        .digest("hex"),
    ).toBe(before);
  },
);

testNeeding(
  ["program:qemu-img", "program:qemu-io"],
  "a disk without a root is inspected all the same, with the reason",
  async () => {
    const folder = await temporaryFolder();
    const raw = join(folder, "disk.raw");
    await writeFile(raw, Buffer.alloc(1 << 20));
    const inspection = await inspectImage(await toQcow2(raw));
    expect(inspection.root).toMatchObject({ fault: { code: "NO_ROOT_PARTITION" } });
    expect(inspection.journal).toBe("unknown");
  },
);

test("a hex dump that is short, or holds other lines, is noticed", () => {
  const line = "00000000:  51 46 49 fb 00 00 00 03 00 00 00 00 00 00 00 00  QFI.............";
  expect(parseHexDump(`${line}\nread 16/16 bytes at offset 0`, 16).toString("hex").slice(0, 8)).toBe(
    "514649fb",
  );
  expect(() => parseHexDump(line, 32)).toThrow("16 of 32");
});
