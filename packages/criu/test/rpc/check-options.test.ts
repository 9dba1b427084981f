import { closeSync, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { assertOptions } from "../../src/rpc/check-options.js";

let folder: number;
let file: number;
beforeAll(() => {
  folder = openSync(tmpdir(), "r");
  file = openSync("/dev/null", "r");
});
afterAll(() => {
  for (const fd of [folder, file]) closeSync(fd);
});

test("what a dump of a container takes passes", () => {
  expect(() =>
    assertOptions({
      imagesDirFd: folder,
      workDirFd: folder,
      pid: 1,
      logLevel: 4,
      logFile: "dump.log",
      ghostLimit: 2 ** 32 - 1,
      external: ["mnt[/dev]:dev", "veth[eth0]:v", "net[5]:n", "dev[8/1]:disk", "file[1:2]", "tty[1:2]"],
      inheritFd: [{ key: "pipe:[1]", fd: 4 }],
      ps: { address: "127.0.0.1", port: 0 },
      root: "/x",
      skipMnt: ["/a"],
      leaveRunning: true,
    }),
  ).not.toThrow();
});

describe("refused before anything is started, by the option's name", () => {
  test.each([
    ["imagesDirFd", {}, /missing/],
    ["imagesDirFd", { imagesDirFd: 999_999 }, /folder/],
    ["imagesDirFd", { imagesDirFd: -1 }, /folder/],
    ["pid", { pid: 0 }, /no pid/],
    ["pid", { pid: 1.5 }, /no pid/],
    ["ghostLimit", { ghostLimit: 2 ** 32 }, /whole number/],
    ["ghostLimit", { ghostLimit: -1 }, /whole number/],
    ["logLevel", { logLevel: 9 }, /level/],
    ["logFile", { logFile: "../x" }, /plain file name/],
    ["root", { root: "x" }, /absolute/],
    ["root", { root: "/x\0/y" }, /zero byte/],
    ["skipMnt", { skipMnt: ["/a\0"] }, /zero byte/],
    ["external", { external: ["mnt[/a]:a", "nothing"] }, /"nothing"/],
    ["inheritFd", { inheritFd: [{ key: "pipe:[1]", fd: 3 }] }, /criu was given/],
    ["ps", { ps: { fd: 1 } }, /not given/],
    ["inheritFd", { inheritFd: [{ key: "", fd: 5 }] }, /key/],
    ["ps", { ps: { port: 70_000 } }, /port/],
    ["statusFd", { statusFd: 999_999 }, /open descriptor/],
  ])("%s: %j", (option, options, why) => {
    const whole = option === "imagesDirFd" ? options : { imagesDirFd: folder, ...options };
    expect(() => assertOptions(whole)).toThrowError(
      expect.objectContaining({
        code: "RPC_ARGUMENT",
        message: expect.stringMatching(why),
        facts: expect.objectContaining({ option }),
      }),
    );
  });

  test("a file where a folder is wanted", () => {
    expect(() => assertOptions({ imagesDirFd: file })).toThrowError(/folder/);
  });
});
