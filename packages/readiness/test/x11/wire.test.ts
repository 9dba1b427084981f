import { describe, expect, test } from "vitest";
import { connectX, gatherFacts, ReadinessError, typeText, XSession } from "../../src/index.js";
import { getInputFocus, getKeyboardMapping, queryTree } from "../../src/x11/requests.js";
import { type FakeServer, fakeServer, reply, setupAnswer } from "../support/fake-server.js";

/** Short where silence is what the test waits for, long where an answer comes on a loaded machine. */
const OPTIONS = { timeoutMs: 1_000 };
const LONG_OPTIONS = { timeoutMs: 20_000 };
const optionsFor = (code: string) => (code === "X_TIMEOUT" ? OPTIONS : LONG_OPTIONS);

/** Connects to a server that sends `answers` one after another, one for each write of ours. */
async function against(answers: readonly (Buffer | "end")[], options = LONG_OPTIONS) {
  const left = [...answers];
  const server = await fakeServer((socket) => {
    socket.on("data", () => {
      const answer = left.shift();
      if (answer === "end") socket.end();
      else if (answer !== undefined) socket.write(answer);
    });
  });
  return { server, connected: connectX(server.connect(), options) };
}

async function codeOf(work: Promise<unknown>, server: FakeServer): Promise<string> {
  try {
    const value = await work;
    return value instanceof XSession ? "connected" : "answered";
  } catch (error) {
    if (error instanceof ReadinessError) return error.code;
    throw error;
  } finally {
    await server.stop();
  }
}

/** The reply to the connection's own question for XTEST: there is none. */
const NO_XTEST = reply(1);

describe("a server that lies at the setup", () => {
  const refusal = Buffer.concat([
    Buffer.from([0, 7, 11, 0, 0, 0, 2, 0]),
    Buffer.from("no\u001b[1m.\0", "latin1"),
  ]);
  test.each<[string, readonly (Buffer | "end")[], string]>([
    ["says nothing", [], "X_TIMEOUT"],
    ["hangs up", ["end"], "X_SERVER_GONE"],
    ["refuses with a reason", [refusal], "X_REFUSED"],
    ["has no resource identifiers", [setupAnswer({ resourceMask: 0 })], "X_PROTOCOL"],
    ["has no screen", [setupAnswer({ screens: 0 })], "X_PROTOCOL"],
    ["has keycodes upside down", [setupAnswer({ minKeycode: 200, maxKeycode: 100 })], "X_PROTOCOL"],
    ["promises more bytes than it sends", [setupAnswer().subarray(0, 60)], "X_TIMEOUT"],
    ["promises 256 KiB", [Buffer.from([1, 0, 11, 0, 0, 0, 0xff, 0xff])], "X_PROTOCOL"],
    ["sends a text", [Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")], "X_PROTOCOL"],
  ])("%s", async (_, answers, code) => {
    const { server, connected } = await against(answers, optionsFor(code));
    expect(await codeOf(connected, server)).toBe(code);
  });

  test("cannot put control characters into our message", async () => {
    const { server, connected } = await against([refusal]);
    await expect(connected).rejects.toThrow("refused the connection: no\ufffd[1m.");
    await server.stop();
  });
});

describe("a server that lies later", () => {
  const huge = reply(2);
  huge.writeUInt32LE(0xffff_ffff, 4);
  const children = reply(2);
  children.writeUInt16LE(65_535, 16);
  const error = Buffer.alloc(32);
  error[1] = 3;
  error.writeUInt16LE(2, 2);

  test.each<[string, readonly (Buffer | "end")[], string]>([
    ["stays silent", [], "X_TIMEOUT"],
    ["hangs up", ["end"], "X_SERVER_GONE"],
    ["announces 16 GiB", [huge], "X_PROTOCOL"],
    ["claims more children than it lists", [children], "X_PROTOCOL"],
    ["answers what nobody asked", [reply(77)], "X_PROTOCOL"],
    ["floods us with events", [Buffer.alloc(32 * 70_000, 2)], "X_PROTOCOL"],
    ["says that the window is gone", [error], "X_ERROR"],
  ])("%s", async (_, answers, code) => {
    const { server, connected } = await against([setupAnswer(), NO_XTEST, ...answers], optionsFor(code));
    const x = await connected;
    expect(await codeOf(x.call(queryTree(1)), server)).toBe(code);
  });

  test("passes a request over", async () => {
    const { server, connected } = await against([setupAnswer(), NO_XTEST, reply(3)]);
    const x = await connected;
    const both = Promise.all([x.call(getInputFocus()), x.call(getInputFocus())]);
    expect(await codeOf(both, server)).toBe("X_PROTOCOL");
  });

  test("has a keyboard of zero columns, which hung another client", async () => {
    const { server, connected } = await against([setupAnswer(), NO_XTEST, reply(2)]);
    const x = await connected;
    expect(await x.call(getKeyboardMapping(8, 248))).toEqual(Array.from({ length: 248 }, () => []));
    await server.stop();
  });

  test("drips answers slowly: the facts have one bound for all of them", async () => {
    const server = await fakeServer((socket) => {
      let [isSetUp, sequence] = [false, 0];
      socket.on("data", () => {
        if (isSetUp) return;
        isSetUp = true;
        socket.write(setupAnswer());
        const drip = setInterval(() => socket.write(reply(++sequence)), 50);
        socket.on("close", () => clearInterval(drip));
      });
    });
    const x = await connectX(server.connect(), LONG_OPTIONS);
    expect(await codeOf(gatherFacts(x, { timeoutMs: 400 }), server)).toBe("X_TIMEOUT");
    expect(x.failure?.code).toBe("X_TIMEOUT");
  });

  test("lacks XTEST: nothing can be typed, and the error says so", async () => {
    const keys = reply(2, Buffer.alloc(24 + 248 * 4), 1);
    const { server, connected } = await against([setupAnswer(), NO_XTEST, keys]);
    expect(await codeOf(typeText(await connected, "a"), server)).toBe("X_EXTENSION_MISSING");
  });
});

test("after the end every call is refused with the reason of the end", async () => {
  const { server, connected } = await against([setupAnswer(), NO_XTEST]);
  const x = await connected;
  x.close();
  expect(await codeOf(x.sync(), server)).toBe("X_SERVER_GONE");
});

test("sequence numbers go round at 65 536 and replies still find their requests", async () => {
  const server = await fakeServer((socket) => {
    let [sequence, isSetUp] = [0, false];
    let rest = Buffer.alloc(0);
    socket.on("data", (data) => {
      if (!isSetUp) {
        isSetUp = true;
        socket.write(setupAnswer());
        return;
      }
      rest = Buffer.concat([rest, data]);
      const replies: Buffer[] = [];
      while (rest.length >= 4 && rest.length >= rest.readUInt16LE(2) * 4) {
        rest = rest.subarray(rest.readUInt16LE(2) * 4);
        const body = Buffer.alloc(24);
        body.writeUInt32LE(++sequence);
        if (sequence === 1) body.fill(0);
        replies.push(reply(sequence & 0xffff, body));
      }
      socket.write(Buffer.concat(replies));
    });
  });
  const x = await connectX(server.connect(), LONG_OPTIONS);
  for (let round = 0; round < 9; round++) {
    const answers = await Promise.all(Array.from({ length: 8_000 }, () => x.call(getInputFocus())));
    expect(answers.at(-1)).toBe(1 + (round + 1) * 8_000);
  }
  await server.stop();
});
