import { readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { describePlan, sessionLimits, setPidMax } from "../../src/index.js";
import { type LiveSession, PROFILES, shell, withSession } from "../support/session.js";
import { flood, plantFloods } from "./floods.js";

const PID_MAX = 400;
const MIB = 1 << 20;
const HOST_PID_MAX = "/proc/sys/kernel/pid_max";

describe.each(PROFILES)("in a %s session a flood of", (profile) => {
  const inSession = (name: string, body: (live: LiveSession) => Promise<void>) =>
    testNeeding(
      ["root", "program:gcc"],
      name,
      () =>
        withSession(
          profile,
          body,
          { pidMax: PID_MAX, tmpSizes: { tmp: "8m", shm: "4m", run: "16m" } },
          (stage) => plantFloods(`${stage.folder}/lower`),
        ),
      60_000,
    );

  for (const [who, uid] of [
    ["a user", 1000],
    ["root", 0],
  ] as const)
    inSession(
      `forks by ${who} ends at pid_max, and the session can be talked to and cleared`,
      async (live) => {
        const before = readFileSync(HOST_PID_MAX, "utf8");
        const forks = await flood(live, ["forks"], uid);
        expect(forks.ended).toBe("EAGAIN");
        expect(forks.amount).toBeLessThan(PID_MAX);
        expect(forks.amount).toBeGreaterThan(PID_MAX - 350);
        await live.init.ping();
        await expect(shell(live.init, "true")).rejects.toMatchObject({ code: "INIT_REFUSED" });
        expect(await live.root.readFile("/etc/hostname")).toEqual(Buffer.from("stage\n"));
        expect(readFileSync(HOST_PID_MAX, "utf8")).toBe(before);
        // Another session is not touched.
        await withSession(profile, async ({ init }) => {
          expect(await shell(init, "echo well")).toMatchObject({ stdout: "well\n" });
        });
        await clear(live, forks.stop);
      },
    );

  inSession("open files ends at the hard limit", async (live) => {
    const files = await flood(live, ["descriptors"]);
    expect(files).toMatchObject({ ended: "EMFILE", amount: Number(sessionLimits().nofile?.hard) - 3 });
    await files.stop();
  });

  inSession("bytes ends at the size of each tmpfs", async (live) => {
    for (const [path, size] of [
      ["/tmp/fill", 8],
      ["/dev/shm/fill", 4],
    ] as const) {
      const bytes = await flood(live, ["file", path]);
      expect(bytes, path).toMatchObject({ ended: "ENOSPC", amount: size * MIB });
      await bytes.stop();
      await shell(live.init, `rm -f ${path}`, { uid: 1000 });
    }
  });

  inSession(
    "bytes that fills init's own /run leaves init answering, and starting what needs no room",
    async (live) => {
      const bytes = await flood(live, ["file", "/run/fill"], 0, "/tmp/flood");
      expect(bytes.ended).toBe("ENOSPC");
      await live.init.ping();
      const { pid } = await live.init.spawn({ argv: ["sh", "-c", "exit 7"], env: { PATH: "/usr/bin:/bin" } });
      expect(await live.init.wait(pid)).toEqual({ code: 7 });
      // What it captures of a program has no room either: the program's own writes fail, and init goes on.
      expect((await shell(live.init, "echo lost")).stdout).toBe("");
      const removing = await live.init.spawn({
        argv: ["rm", "-f", "/run/fill"],
        env: { PATH: "/usr/bin:/bin" },
      });
      expect(await live.init.wait(removing.pid)).toEqual({ code: 0 });
      await bytes.stop();
      expect(await shell(live.init, "echo well")).toMatchObject({ stdout: "well\n" });
    },
  );

  inSession("empty files ends at the number that each tmpfs takes", async (live) => {
    const files = await flood(live, ["files", "/dev/shm/many"]);
    expect(files.ended).toBe("ENOSPC");
    expect(files.amount).toBeGreaterThan(100_000);
    expect(files.amount).toBeLessThanOrEqual(102_400);
    await files.stop();
  });

  inSession("memory would end this session's processes before the host's", async (live) => {
    const score = await shell(live.init, "cat /proc/self/oom_score_adj; cat /proc/1/oom_score_adj");
    expect(score.stdout).toBe("500\n500\n");
  });
});

testNeeding(["root"], "a session reports the pid_max that it was given, and it can be set anew", async () => {
  await withSession(
    "hardened",
    async ({ session, init, plan }) => {
      expect(session.report.pidMax).toBe(PID_MAX);
      expect(describePlan(plan.plan)).toContain(`pids up to ${PID_MAX}`);
      const before = readFileSync(HOST_PID_MAX, "utf8");
      const target = { pid: session.initPid, startTime: session.startTime };
      expect(await setPidMax(target, 777)).toBe(777);
      expect((await shell(init, "cat /proc/sys/kernel/pid_max")).stdout).toBe("777\n");
      expect(readFileSync(HOST_PID_MAX, "utf8")).toBe(before);
      await expect(setPidMax({ ...target, startTime: 1n }, 777)).rejects.toMatchObject({
        code: "PROCESS_GONE",
      });
      await expect(setPidMax(target, 5)).rejects.toMatchObject({ code: "PID_MAX_REFUSED", step: "pid-max" });
    },
    { pidMax: PID_MAX },
  );
});

async function clear(live: LiveSession, stop: () => Promise<void>): Promise<void> {
  await stop();
  expect(await shell(live.init, "echo well")).toMatchObject({ stdout: "well\n" });
}
