import { readdirSync, readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { spawnNative } from "../src/child.js";

const sh = (script: string) =>
  spawnNative({ file: "/bin/sh", argv: ["sh", "-c", script], env: { PATH: "/bin" } });

function pidfdsHeld(): number {
  const targets = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return targets.filter((target) => /\[pidfd\]|^pidfd:/.test(target)).length;
}

test("an exit code and a signal are told apart", async () => {
  expect(await sh("exit 7").exited).toEqual({ code: 7 });
  expect(await sh("kill -USR1 $$").exited).toEqual({ signal: "SIGUSR1" });
});

test("many children at once are each reaped, with no zombie and no descriptor left", async () => {
  const before = pidfdsHeld();
  const children = Array.from({ length: 40 }, (_, index) => sh(`exit ${index}`));
  const codes = await Promise.all(children.map(async (child) => (await child.exited).code));
  expect(codes).toEqual(children.map((_, index) => index));
  expect(pidfdsHeld()).toBe(before);
  for (const { pid } of children)
    expect(() => process.kill(pid, 0)).toThrow(expect.objectContaining({ code: "ESRCH" }));
});

test("kill says whether the child was there, and never reaches another process", async () => {
  const child = sh("exec sleep 1000");
  expect(child.kill(0)).toBe(true);
  expect(child.kill("SIGKILL")).toBe(true);
  expect(await child.exited).toEqual({ signal: "SIGKILL" });
  expect(child.kill("SIGKILL")).toBe(false);
});
