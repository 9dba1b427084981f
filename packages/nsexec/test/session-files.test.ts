import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { spawnNative } from "../src/child.js";
import { readStartTime } from "../src/proc/index.js";
import { openFolderRoot, openSessionRoot, type SessionRoot } from "../src/session-files.js";

/** `inside` is what the session may write; `secret` is the host's and must never be read through it. */
let folder: string;
let inside: string;
let secret: string;
let root: SessionRoot;
const servers: Server[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nsexec-files-"));
  inside = join(folder, "inside");
  secret = join(folder, "secret");
  mkdirSync(join(inside, "etc"), { recursive: true });
  writeFileSync(secret, "the host's");
  writeFileSync(join(inside, "etc/name"), "the session's");
  root = openFolderRoot(inside);
});
afterEach(async () => {
  root.close();
  // Ends only once every connection has: a connection left open by a refusal fails the test here.
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

async function listen(path: string): Promise<void> {
  const server = createServer((socket) => socket.end("hello"));
  servers.push(server);
  await once(server.listen(path), "listening");
}

const text = async (path: string, options = {}) => (await root.readFile(path, options)).toString();

/** The files inside that this process holds open, the root itself left out. */
function openInside(): string[] {
  const listing = execFileSync("ls", ["-l", `/proc/${process.pid}/fd`], { encoding: "utf8" });
  return listing.split("\n").filter((line) => line.includes(`${inside}/`));
}

describe("a path stays inside, whatever the session made of it", () => {
  test.each(["/etc/name", "etc/name", "/../../etc/name", "/etc/../../../../etc/./name"])(
    "%s",
    async (path) => {
      expect(await text(path)).toBe("the session's");
    },
  );

  test("an absolute link to a host file does not give the host's file", async () => {
    symlinkSync(secret, join(inside, "link"));
    await expect(root.readFile("/link")).rejects.toMatchObject({ code: "WRONG_KIND", path: "/link" });
    await expect(root.readFile("/link", { follow: true })).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("a link that climbs out with .. ends at the session's own root", async () => {
    symlinkSync("../../../../../../../../etc/name", join(inside, "climb"));
    expect(await text("/climb", { follow: true })).toBe("the session's");
  });

  test("a folder linked to the host's is looked up inside", async () => {
    symlinkSync(folder, join(inside, "linked"));
    await expect(root.readFile("/linked/secret")).rejects.toMatchObject({ code: "ENOENT" });
    symlinkSync("/etc", join(inside, "own"));
    expect(await text("/own/name")).toBe("the session's");
  });

  test("a link is read as text only", async () => {
    symlinkSync(secret, join(inside, "link"));
    expect(await root.readLink("/link")).toBe(secret);
    expect(await root.stat("/link")).toMatchObject({ kind: "link" });
    await expect(root.readLink("/etc/name")).rejects.toMatchObject({ code: "WRONG_KIND" });
  });

  test("a loop of links is refused", async () => {
    symlinkSync("/b", join(inside, "a"));
    symlinkSync("/a", join(inside, "b"));
    await expect(root.readFile("/a", { follow: true })).rejects.toMatchObject({ code: "ELOOP" });
  });
});

describe("only regular files are read", () => {
  test("a FIFO that nobody writes to is refused without waiting", async () => {
    execFileSync("mkfifo", [join(inside, "fifo")]);
    await expect(root.readFile("/fifo")).rejects.toMatchObject({ code: "WRONG_KIND", message: /fifo/ });
  });

  test("a folder and a socket are refused", async () => {
    await listen(join(inside, "socket"));
    await expect(root.readFile("/etc")).rejects.toMatchObject({ code: "WRONG_KIND" });
    await expect(root.readFile("/socket")).rejects.toMatchObject({ code: "WRONG_KIND" });
  });

  testNeeding(["root"], "a device that never ends is refused", async () => {
    execFileSync("mknod", [join(inside, "zero"), "c", "1", "5"]);
    symlinkSync("/zero", join(inside, "link"));
    await expect(root.readFile("/zero")).rejects.toMatchObject({ message: /character-device/ });
    await expect(root.readFile("/link", { follow: true })).rejects.toMatchObject({ code: "WRONG_KIND" });
  });
});

describe("no file is read past the cap", () => {
  test("a file of exactly the cap is read, one byte more is refused", async () => {
    writeFileSync(join(inside, "f"), Buffer.alloc(1000, 1));
    expect(await root.readFile("/f", { maxBytes: 1000 })).toEqual(Buffer.alloc(1000, 1));
    await expect(root.readFile("/f", { maxBytes: 999 })).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
  });

  test("a sparse file of a terabyte is refused, and its ends can be had", async () => {
    writeFileSync(join(inside, "huge"), "head");
    truncateSync(join(inside, "huge"), 2 ** 40);
    writeFileSync(join(inside, "huge"), "tail", { flag: "a" });
    await expect(root.readFile("/huge")).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
    expect(await text("/huge", { maxBytes: 4, larger: "head" })).toBe("head");
    expect(await text("/huge", { maxBytes: 4, larger: "tail" })).toBe("tail");
  });

  test("an empty file is empty", async () => {
    writeFileSync(join(inside, "empty"), "");
    expect(await text("/empty", { larger: "tail" })).toBe("");
  });
});

describe("a folder", () => {
  test("is listed up to a cap", async () => {
    for (const name of ["b", "a", "c"]) writeFileSync(join(inside, "etc", name), "");
    expect(await root.list("/etc")).toEqual(["a", "b", "c", "name"]);
    await expect(root.list("/etc", { maxEntries: 3 })).rejects.toMatchObject({ code: "TOO_MANY_ENTRIES" });
  });

  test("that is a link to the host's is not listed", async () => {
    symlinkSync(folder, join(inside, "linked"));
    await expect(root.list("/linked")).rejects.toMatchObject({ code: "WRONG_KIND" });
    await expect(root.list("/linked", { follow: true })).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("a socket", () => {
  test("inside is connected to and speaks", async () => {
    await listen(join(inside, "etc/s"));
    const socket = await root.connectStream("/etc/s");
    expect((await once(socket, "data")).toString()).toBe("hello");
    socket.destroy();
  });

  test("replaced by a link to a host socket is refused, followed or not", async () => {
    await listen(join(folder, "host"));
    symlinkSync(join(folder, "host"), join(inside, "s"));
    await expect(root.connect("/s")).rejects.toMatchObject({ code: "WRONG_KIND" });
    await expect(root.connect("/s", { follow: true })).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("answered by a user outside the session's range is refused", async () => {
    await listen(join(folder, "host"));
    renameSync(join(folder, "host"), join(inside, "moved"));
    const options = { peerUids: { first: 200_000, count: 65_536 } };
    await expect(root.connect("/moved", options)).rejects.toMatchObject({ code: "WRONG_PEER" });
    const uid = process.getuid?.() ?? 0;
    const socket = await root.connectStream("/moved", { peerUids: { first: uid, count: 1 } });
    socket.destroy();
  });

  test("that is a regular file is refused", async () => {
    await expect(root.connect("/etc/name")).rejects.toMatchObject({ code: "WRONG_KIND" });
  });
});

test("nothing stays open, and a closed root refuses", async () => {
  await root.readFile("/etc/name");
  await root.stat("/etc");
  await root.list("/etc");
  await expect(root.readFile("/none")).rejects.toMatchObject({ code: "ENOENT", syscall: "openat2" });
  await expect(root.readFile("/etc")).rejects.toThrow();
  expect(openInside()).toEqual([]);
  root.close();
  root.close();
  await expect(root.readFile("/etc/name")).rejects.toMatchObject({ code: "ROOT_CLOSED" });
});

describe("the root of a process", () => {
  test("is refused for another start time, and for a process that is gone", async () => {
    const child = spawnNative({ file: "/bin/sleep", argv: ["sleep", "1000"] });
    const startTime = await readStartTime(child.pid);
    await expect(openSessionRoot({ pid: child.pid, startTime: startTime + 1n })).rejects.toMatchObject({
      code: "PROCESS_GONE",
    });
    (await openSessionRoot({ pid: child.pid, startTime })).close();
    child.kill("SIGKILL");
    await child.exited;
    await expect(openSessionRoot({ pid: child.pid })).rejects.toMatchObject({ code: "PROCESS_GONE" });
  });

  testNeeding(["root"], "shows the mounts of its own namespace, and no way back through /proc", async () => {
    const script = 'mount -t tmpfs none "$1" && echo own >"$1/file" && echo >"$1/../ready"; exec sleep 1000';
    const point = join(inside, "point");
    mkdirSync(point);
    chmodSync(folder, 0o755);
    execFileSync("mkfifo", [join(inside, "ready")]);
    const child = spawnNative({
      file: "/bin/sh",
      argv: ["sh", "-c", `mount --make-rprivate /; ${script}`, "sh", point],
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
      namespaces: ["mnt"],
    });
    const own = await openSessionRoot({ pid: child.pid });
    try {
      execFileSync("cat", [join(inside, "ready")]);
      expect(readdirSync(point)).toEqual([]);
      expect((await own.readFile(`${point}/file`)).toString()).toBe("own\n");
      await expect(own.readFile(`/proc/${process.pid}/root${secret}`)).rejects.toMatchObject({
        code: "ELOOP",
      });
      await expect(own.readFile("/proc/self/fd/0", { follow: true })).rejects.toMatchObject({
        code: "ELOOP",
      });
      await expect(own.readFile("/proc/kallsyms")).rejects.toMatchObject({ code: "REFUSED_FILESYSTEM" });
      await expect(own.list("/sys")).rejects.toMatchObject({ code: "REFUSED_FILESYSTEM" });
    } finally {
      own.close();
      child.kill("SIGKILL");
      await child.exited;
    }
  });
});
