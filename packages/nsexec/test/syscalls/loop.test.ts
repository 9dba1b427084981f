import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { loopAttach, loopDetach, loopStatus } from "../../src/syscalls/index.js";

let folder: string;
let file: string;
let backing: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nsexec-loop-"));
  file = join(folder, "disk");
  writeFileSync(
    file,
    Buffer.concat([Buffer.alloc(4096, "a"), Buffer.alloc(8192, "b"), Buffer.alloc(4096, "c")]),
  );
  backing = openSync(file, "r");
});

// udev opens a new device for a moment, and a detached device goes with its last user.
const gone = (path: string) => expect.poll(() => loopStatus(path), { timeout: 10_000 }).toBeUndefined();

afterEach(() => {
  closeSync(backing);
  rmSync(folder, { recursive: true, force: true });
});

function readAll(path: string): string {
  const fd = openSync(path, "r");
  const buffer = Buffer.alloc(1 << 16);
  const length = readSync(fd, buffer, 0, buffer.length, 0);
  closeSync(fd);
  return buffer.toString("latin1", 0, length);
}

testNeeding(
  ["root", "loop"],
  "a window of a file becomes a read-only device that knows its file",
  async () => {
    const device = loopAttach(backing, { offset: 4096, sizeLimit: 8192 });
    try {
      expect(readAll(device.path)).toBe("b".repeat(8192));
      const { dev, ino } = statSync(file, { bigint: true });
      expect(loopStatus(device.path)).toMatchObject({
        inode: ino,
        device: dev,
        offset: 4096n,
        sizeLimit: 8192n,
        readOnly: true,
        directIo: false,
        autoclear: false,
      });
      expect(() => writeFileSync(device.path, "x", { flag: "r+" })).toThrow(/EPERM|EACCES/);
    } finally {
      closeSync(device.fd);
      loopDetach(device.path);
    }
    await gone(device.path);
  },
);

testNeeding(["root", "loop"], "with autoclear the device goes with its last descriptor", async () => {
  const device = loopAttach(backing, { autoclear: true });
  expect(loopStatus(device.path)).toMatchObject({ autoclear: true });
  closeSync(device.fd);
  await gone(device.path);
});

testNeeding(["root", "loop"], "many devices at once each get their own", () => {
  const devices = Array.from({ length: 12 }, () => loopAttach(backing));
  try {
    expect(new Set(devices.map(({ path }) => path)).size).toBe(12);
  } finally {
    for (const { path, fd } of devices) {
      closeSync(fd);
      loopDetach(path);
    }
  }
});

testNeeding(
  ["root", "loop"],
  "what is no file is refused, and a device with nothing attached says so",
  () => {
    expect(() => loopAttach(9999)).toThrow(
      expect.objectContaining({ code: "EBADF", syscall: "ioctl LOOP_CONFIGURE" }),
    );
    const device = loopAttach(backing);
    closeSync(device.fd);
    loopDetach(device.path);
    expect(() => loopDetach(device.path)).toThrow(expect.objectContaining({ code: "ENXIO" }));
  },
);
