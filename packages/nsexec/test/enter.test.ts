import { readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import {
  buildConfinement,
  type EnterOptions,
  enterSession,
  listPidNamespace,
  parseStatus,
} from "../src/index.js";
import { ENV, type LiveSession, PROFILES, shell, withSession } from "./support/session.js";

function enter({ session }: LiveSession, line: string, more: Partial<EnterOptions> = {}) {
  return enterSession({
    pid: session.initPid,
    startTime: session.startTime,
    confinement: buildConfinement({}),
    file: "/bin/sh",
    argv: ["sh", "-c", line],
    env: ENV,
    ...more,
  });
}

/** The host's number for the process beside PID 1, once there is one. */
async function enteredPid({ session }: LiveSession): Promise<number> {
  for (;;) {
    const processes = await listPidNamespace(session.initPid);
    const entered = processes.find(({ innerPid }) => innerPid !== 1);
    if (entered) return entered.pid;
  }
}

describe.each(PROFILES)("what is entered into a %s session", (profile) => {
  testNeeding(["root"], "has no more rights than what init starts there", async () => {
    await withSession(profile, async (live) => {
      const own = parseStatus((await shell(live.init, "cat /proc/self/status")).stdout);
      const entered = parseStatus((await enter(live, "cat /proc/self/status")).stdout.toString());
      for (const fact of ["uids", "gids", "capEff", "capBnd", "noNewPrivs", "seccomp"] as const)
        expect(entered[fact], fact).toEqual(own[fact]);
      expect((await enter(live, "mount -t tmpfs x /home")).code).not.toBe(0);
    });
  });

  testNeeding(["root"], "is in every namespace of the session", async () => {
    await withSession(profile, async (live) => {
      const line = "ls -l /proc/self/ns";
      const kinds = (text: string) => [...text.matchAll(/(\w+):\[\d+\]/g)].map(([link]) => link);
      const own = kinds((await shell(live.init, line)).stdout);
      expect(own).toContain(kinds((await enter(live, line)).stdout.toString())[0]);
      expect(kinds((await enter(live, line)).stdout.toString())).toEqual(own);
    });
  });

  testNeeding(
    ["root"],
    "takes the caller's ids, folder and environment, and gives its status and outputs",
    async () => {
      await withSession(profile, async (live) => {
        const result = await enter(live, 'id -u; id -G; pwd; echo "$X"; echo no >&2; exit 9', {
          uid: 1000,
          groups: [1005],
          cwd: "/usr",
          env: { ...ENV, X: "y" },
        });
        expect({ ...result, stdout: String(result.stdout), stderr: String(result.stderr) }).toEqual({
          code: 9,
          stdout: "1000\n1000 1005\n/usr\ny\n",
          stderr: "no\n",
        });
        expect(await enter(live, "kill -TERM $$")).toMatchObject({ signal: "SIGTERM" });
      });
    },
  );

  testNeeding(["root"], "has no descriptor beside its three", async () => {
    await withSession(profile, async (live) => {
      // 3 is the folder that ls reads.
      expect(String((await enter(live, "exec ls /proc/self/fd")).stdout)).toBe("0\n1\n2\n3\n");
    });
  });

  testNeeding(["root"], "keeps the caller's cgroup", async () => {
    await withSession(profile, async (live) => {
      const running = enter(live, "exec sleep 1000");
      const pid = await enteredPid(live);
      expect(readFileSync(`/proc/${pid}/cgroup`, "utf8")).toBe(readFileSync("/proc/self/cgroup", "utf8"));
      process.kill(pid, "SIGKILL");
      expect(await running).toMatchObject({ signal: "SIGKILL" });
    });
  });
});

testNeeding(["root"], "what runs too long or says too much is killed, and nothing of it stays", async () => {
  await withSession("hardened", async (live) => {
    await expect(enter(live, "exec sleep 1000", { timeoutMs: 200 })).rejects.toMatchObject({
      code: "TIMEOUT",
    });
    const flood = enter(live, "while :; do echo aaaaaaaaaaaaaaaa; done", { maxBytes: 1000 });
    await expect(flood).rejects.toMatchObject({ code: "OUTPUT_TOO_LARGE" });
    for (;;) {
      const processes = await listPidNamespace(live.session.initPid);
      if (processes.length === 1) break;
    }
  });
});

testNeeding(["root"], "a program that is missing, and a session that has ended, are named", async () => {
  await withSession("hardened", async (live) => {
    await expect(enter(live, "", { file: "/bin/none" })).rejects.toMatchObject({
      code: "ENTER_FAILED",
      step: "exec",
      path: "/bin/none",
    });
    await expect(enter(live, "", { startTime: 1n })).rejects.toMatchObject({ code: "PROCESS_GONE" });
    await expect(enter(live, "", { uid: 70_000 })).rejects.toMatchObject({
      code: "ENTER_FAILED",
      step: "ids",
    });
  });
});
