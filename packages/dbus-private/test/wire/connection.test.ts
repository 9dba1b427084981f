import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { busCall, openBus } from "../../src/index.js";
import { connectPath, withBus, withFolder } from "../support.js";

const GUID = "0123456789abcdef0123456789abcdef";

/** Runs `body` against a server of ours that plays a hostile bus. */
function withServer(
  onClient: (socket: Socket) => void,
  body: (connect: () => Promise<Socket>) => Promise<void>,
) {
  return withFolder(async (folder) => {
    const path = join(folder, "bus");
    const clients = new Set<Socket>();
    const server = createServer((socket) => {
      clients.add(socket);
      socket.on("error", () => {});
      onClient(socket);
    });
    server.listen(path);
    await once(server, "listening");
    try {
      await body(() => connectPath(path));
    } finally {
      for (const client of clients) client.destroy();
      server.close();
      await once(server, "close");
    }
  });
}

testNeeding(
  ["program:dbus-daemon"],
  "a bus greets us with a name, whether we give our uid or leave it out",
  async () => {
    await withBus(async ({ connect }) => {
      for (const uid of [undefined, process.getuid?.() ?? 0]) {
        const bus = await openBus(connect, uid === undefined ? {} : { uid });
        expect(bus.uniqueName).toMatch(/^:1\.\d+$/);
        expect(bus.serverGuid).toMatch(/^[0-9a-f]{32}$/);
        bus.close();
      }
    });
  },
);

testNeeding(["program:dbus-daemon"], "a uid that is not ours is refused with what to do", async () => {
  await withBus(async ({ connect }) => {
    const other = (process.getuid?.() ?? 0) + 1;
    await expect(openBus(connect, { uid: other })).rejects.toMatchObject({
      code: "AUTH_REFUSED",
      message: expect.stringContaining(String(other)),
    });
  });
});

testNeeding(["program:dbus-daemon"], "many calls at once each get their own reply", async () => {
  await withBus(async ({ connect }) => {
    const bus = await openBus(connect);
    const names = Array.from({ length: 50 }, (_, index) =>
      index % 2 ? "org.freedesktop.DBus" : bus.uniqueName,
    );
    const owners = await Promise.all(names.map((name) => bus.call(busCall("GetNameOwner", name))));
    expect(owners.map(([owner]) => owner)).toEqual(names);
    bus.close();
    await expect(bus.call(busCall("GetId"))).rejects.toMatchObject({ code: "CLOSED" });
  });
});

testNeeding(
  ["program:dbus-daemon"],
  "a stopped bus is a timeout, and one that is killed is closed",
  async () => {
    await withBus(async ({ connect, daemon }) => {
      const bus = await openBus(connect);
      daemon.kill("SIGSTOP");
      await expect(bus.call(busCall("GetId"), { timeoutMs: 50 })).rejects.toMatchObject({ code: "TIMEOUT" });
      await expect(openBus(connect, { timeoutMs: 50 })).rejects.toMatchObject({ code: "TIMEOUT" });
      daemon.kill("SIGCONT");
      await bus.call(busCall("GetId"));
      // Stopped first, so that it cannot answer before it is killed.
      daemon.kill("SIGSTOP");
      const pending = bus.call(busCall("GetId"));
      const ended = once(daemon, "exit");
      daemon.kill("SIGKILL");
      await expect(pending).rejects.toMatchObject({ code: "CLOSED" });
      await ended;
      await expect(openBus(connect)).rejects.toMatchObject({ code: "CONNECT_FAILED" });
    });
  },
);

test("a server that says nothing is a timeout, and the connection is closed", async () => {
  let client: Socket | undefined;
  await withServer(
    (socket) => {
      client = socket.resume();
    },
    async (connect) => {
      await expect(openBus(connect, { timeoutMs: 50 })).rejects.toMatchObject({ code: "TIMEOUT" });
      if (client?.closed === false) await once(client, "close");
    },
  );
});

test("a connect that never comes is a timeout, and one that comes late is closed", async () => {
  const late = new PassThrough();
  const connect = () => new Promise<PassThrough>((resolve) => setTimeout(() => resolve(late), 100));
  await expect(openBus(connect, { timeoutMs: 20 })).rejects.toMatchObject({ code: "TIMEOUT" });
  await once(late, "close");
});

test.each([
  ["an endless line", "x".repeat(100_000)],
  ["another protocol", "SSH-2.0-OpenSSH_9.2\r\n"],
  ["a greeting that is no message", `DATA\r\nOK ${GUID}\r\n${"z".repeat(64)}`],
])("a server that answers with %s is refused", async (_, answer) => {
  await withServer(
    (socket) => socket.resume().write(answer),
    async (connect) => {
      await expect(openBus(connect)).rejects.toMatchObject({ code: "PROTOCOL" });
    },
  );
});

test("a server that floods is cut off by time and fills no memory", async () => {
  await withServer(
    (socket) => {
      socket.resume();
      socket.write(`DATA\r\nOK ${GUID}\r\n`);
      // Signals without end: valid, and never the reply.
      const header = Buffer.alloc(16);
      header.write("l\x04\x00\x01", "latin1");
      const flood = () => {
        while (!socket.destroyed && socket.write(header));
      };
      socket.on("drain", flood);
      flood();
    },
    async (connect) => {
      await expect(openBus(connect, { timeoutMs: 200 })).rejects.toMatchObject({ code: "TIMEOUT" });
    },
  );
});

test("a server that closes at once is said to have closed", async () => {
  await withServer(
    (socket) => socket.end(),
    async (connect) => {
      await expect(openBus(connect)).rejects.toMatchObject({ code: "CLOSED" });
    },
  );
});
