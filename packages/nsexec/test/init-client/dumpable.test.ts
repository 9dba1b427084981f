import { stat } from "node:fs/promises";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { sealInit, withDumpableInit } from "../../src/index.js";
import { shell, withSession } from "../support/session.js";

/** Whether the session's root may look into init's memory map, which takes a dumpable init. */
const LOOK = "cat /proc/1/environ >/dev/null 2>&1 && echo yes || echo no";

testNeeding(["root"], "init is dumpable while the host says so, and not before and after", async () => {
  await withSession("hardened", async ({ init, session: { initPid } }) => {
    const look = async () => (await shell(init, LOOK)).stdout.trim();
    expect(await look()).toBe("no");
    await withDumpableInit({ pid: initPid }, async () => {
      expect(await look()).toBe("yes");
      expect((await stat(`/proc/${initPid}`)).uid).toBeGreaterThan(0);
    });
    await expect.poll(look).toBe("no");
  });
});

testNeeding(["root"], "the session's root cannot make init dumpable", async () => {
  await withSession("hardened", async ({ init, session: { initPid } }) => {
    expect((await shell(init, `kill -USR1 1; sleep 0.1; ${LOOK}`)).stdout.trim()).toBe("no");
    sealInit({ pid: initPid });
    expect((await shell(init, LOOK)).stdout.trim()).toBe("no");
  });
});

testNeeding(["root"], "work that fails leaves init as it was, and its error is passed on", async () => {
  await withSession("hardened", async ({ init, session: { initPid } }) => {
    const failing = withDumpableInit({ pid: initPid }, () => Promise.reject(new Error("no disk")));
    await expect(failing).rejects.toThrow("no disk");
    await expect.poll(async () => (await shell(init, LOOK)).stdout.trim()).toBe("no");
  });
});
