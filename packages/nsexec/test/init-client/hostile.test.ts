import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { connectInit, NsexecError, SeqpacketChannel, type SessionRoot } from "../../src/index.js";
import {
  encodeRequest,
  parseAnswer,
  parseChildren,
  parseStatus,
  spawnFields,
} from "../../src/init-client/messages.js";
import { ENV, shell, withSession } from "../support/session.js";

const SOCKET = "/run/drums/init.sock";

/** Tries again while init's queue of callers is full. */
async function open(root: SessionRoot): Promise<SeqpacketChannel> {
  for (;;) {
    try {
      return new SeqpacketChannel(await root.connect(SOCKET, { type: "seqpacket" }));
    } catch (error) {
      if (!(error instanceof NsexecError && error.code === "EAGAIN")) throw error;
      await sleep(5);
    }
  }
}

/** Sends one packet on a connection of its own and gives what comes back, or undefined for a closed one. */
async function exchange(root: SessionRoot, packet: string | Buffer): Promise<string | undefined> {
  const channel = await open(root);
  try {
    channel.send(Buffer.from(packet));
    const answer = await channel.receive({ timeoutMs: 10_000 });
    return answer?.data.toString();
  } finally {
    channel.close();
  }
}

testNeeding(["root"], "init cuts off who sends no request, and refuses who sends a wrong one", async () => {
  await withSession("hardened", async ({ root, init }) => {
    for (const garbage of ["\xff", "1", "1\0", "no end", `${"9".repeat(40)}\0ping\0`, "\0".repeat(5000)])
      expect(await exchange(root, garbage), garbage.slice(0, 20)).toBeUndefined();
    for (const wrong of [
      "1\0spawn\0",
      "1\0spawn\x000\x000\0/\0\0\0\x000\x000\x000\x000\x009999\0sh\0",
      "1\0spawn\x00-1\x000\0/\0\0\0\0\x000\x000\x000\x000\x001\0sh\x000\0",
      "1\0spawn\x000\x000\0/\0\0\0\0\x000\x000\x000\x000\x000\x000\0",
      "1\0wait\0",
      "1\0wait\0x\0",
      "1\0signal\x00-1\x009\0",
      "1\0signal\x000\x009\0",
      "1\0signal\x001\x009\0",
      "1\0signal\x002\x0099\0",
      "1\0remove\0../../etc/passwd\0",
      "1\0remove\0init.sock\0",
      "1\0remove\0run-/../init.sock\0",
      "1\0pty-write\x002\0",
      "1\0shutdown\0",
    ])
      expect(await exchange(root, wrong), wrong).toMatch(/^1\0err\0(protocol|pty)\0\d+\0$/);
    await init.ping();
  });
});

testNeeding(["root"], "init goes on after a flood of random packets on many connections", async () => {
  await withSession("hardened", async ({ root, init }) => {
    let seed = 4711;
    const next = () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return seed >>> 16;
    };
    const words = [
      "ping",
      "list",
      "wait",
      "signal",
      "remove",
      "pty-write",
      "pty-resize",
      "0",
      "7",
      "-3",
      "x",
      "",
    ];
    for (let round = 0; round < 300; round++) {
      const channel = await open(root);
      const fields = Array.from({ length: 1 + (next() % 8) }, () => words[next() % words.length]);
      channel.send(Buffer.from([String(round), ...fields].join("\0") + (next() % 4 === 0 ? "" : "\0")));
      channel.close();
    }
    await init.ping();
    expect((await shell(init, "echo alive")).stdout).toBe("alive\n");
  });
});

testNeeding(["root"], "init is not delayed by a client that never reads", async () => {
  await withSession("hardened", async ({ root, init }) => {
    const deaf = await open(root);
    const flood = encodeRequest(1, "list", []);
    try {
      for (let sent = 0; sent < 20_000; sent++) deaf.send(flood);
    } catch {
      // Our own queue is full, or init has cut us off: either is what the test is about.
    }
    await init.ping();
    deaf.close();
    await init.ping();
  });
});

testNeeding(
  ["root"],
  "idle connections up to init's limit keep out no reaping, and a place freed is taken",
  async () => {
    await withSession("hardened", async ({ root, init }) => {
      const idle: SeqpacketChannel[] = [];
      for (let count = 0; count < 40; count++) idle.push(await open(root));
      expect((await shell(init, "echo alive")).stdout).toBe("alive\n");
      for (const channel of idle) channel.close();
      const again = await connectInit(root);
      await again.ping();
      await again.close();
    });
  },
);

testNeeding(["root"], "a FIFO given as stdio is refused and holds nobody up", async () => {
  await withSession("hardened", async ({ init }) => {
    await shell(init, "mkfifo /tmp/fifo");
    const spawn = (stdio: object) => init.spawn({ argv: ["cat"], env: ENV, ...stdio });
    await expect(spawn({ stdin: "/tmp/fifo" })).rejects.toMatchObject({ step: "stdio", errno: -22 });
    await expect(spawn({ stdout: "/tmp/fifo" })).rejects.toMatchObject({ step: "stdio", errno: -6 });
    await init.ping();
  });
});

testNeeding(["root"], "a program without rights can neither reach init's socket nor end init", async () => {
  await withSession("hardened", async ({ init }) => {
    const { stdout, stderr } = await shell(
      init,
      "ls -l /run/drums/init.sock; cat /run/drums/init.sock; kill -9 1",
      { uid: 1000 },
    );
    expect(stdout).toMatch(/^srw-------/);
    expect(stderr).toMatch(/ermitted/);
    await shell(init, "kill -9 1; kill -TERM 1; kill -SEGV 1");
    await init.ping();
  });
});

describe("the client takes nothing on trust:", () => {
  test("an answer without id or kind is INIT_BROKEN", () => {
    for (const odd of ["", "\0", "x\0ok\0", "1\0maybe\0", "1", "9999999999999999\0ok\0"])
      expect(() => parseAnswer(Buffer.from(odd)), odd).toThrow(
        expect.objectContaining({ code: "INIT_BROKEN" }),
      );
  });

  test("a status that is none is INIT_BROKEN", () => {
    expect(parseStatus(["exit", "3"])).toEqual({ code: 3 });
    expect(parseStatus(["signal", "9"])).toEqual({ signal: "SIGKILL" });
    for (const odd of [[], ["exit"], ["exit", "x"], ["gone", "1"]])
      expect(() => parseStatus(odd)).toThrow(expect.objectContaining({ code: "INIT_BROKEN" }));
  });

  test("a list is read in triples", () => {
    expect(parseChildren(["5", "running", "0", "6", "exit", "1"])).toEqual([
      { pid: 5, running: true },
      { pid: 6, running: false, code: 1 },
    ]);
  });

  test("a request that init could not take is refused before it is sent", () => {
    expect(() => encodeRequest(1, "ping", ["a\0b"])).toThrow(
      expect.objectContaining({ code: "REQUEST_INVALID" }),
    );
    expect(() => encodeRequest(1, "spawn", ["x".repeat(200_000)])).toThrow(/REQUEST_INVALID|200\d{3} bytes/);
    expect(() => spawnFields({ argv: [] })).toThrow(/argv is empty/);
  });
});
