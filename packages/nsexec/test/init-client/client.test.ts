import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { parseStatus, readStatus } from "../../src/index.js";
import { ENV, PROFILES, shell, withSession } from "../support/session.js";

/** Asks again until the answer is there; the test's own time limit ends it. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(10);
  }
}

describe.each(PROFILES)("through the init of a %s session", (profile) => {
  testNeeding(["root"], "a program gets its argv, environment, ids, folder and files", async () => {
    await withSession(profile, async ({ init, root }) => {
      const { pid } = await init.spawn({
        argv: ["sh", "-c", 'echo "$0 $GREETING" $(id -u) $(id -g) $(id -G) $PWD; echo oops >&2; cat', "name"],
        env: { ...ENV, GREETING: "hello there" },
        uid: 1000,
        gid: 1001,
        groups: [1002, 1003],
        cwd: "/usr",
        stdin: "/etc/hostname",
        stdout: "/var/log/out.log",
        stderr: "/var/log/err.log",
      });
      expect(await init.wait(pid)).toEqual({ code: 0 });
      expect(String(await root.readFile("/var/log/out.log"))).toBe(
        "name hello there 1000 1001 1001 1002 1003 /usr\nstage\n",
      );
      expect(String(await root.readFile("/var/log/err.log"))).toBe("oops\n");
    });
  });
});

testNeeding(["root"], "output is appended, and one file for both outputs keeps them in order", async () => {
  await withSession("hardened", async ({ init, root }) => {
    for (const line of ["echo a; echo b >&2; echo c", "echo d"]) {
      const { pid } = await init.spawn({
        argv: ["sh", "-c", line],
        env: ENV,
        stdout: "/tmp/log",
        stderr: "/tmp/log",
      });
      await init.wait(pid);
    }
    expect(String(await root.readFile("/tmp/log"))).toBe("a\nb\nc\nd\n");
  });
});

testNeeding(["root"], "exit codes and signals are told truly, at once and afterwards", async () => {
  await withSession("hardened", async ({ init }) => {
    const { pid } = await init.spawn({ argv: ["sh", "-c", "exit 77"], env: ENV });
    expect(await init.wait(pid)).toEqual({ code: 77 });
    expect(await init.wait(pid)).toEqual({ code: 77 });
    const sleeper = await init.spawn({ argv: ["sleep", "1000"], env: ENV });
    const waits = [init.wait(sleeper.pid), init.wait(sleeper.pid)];
    await init.signal(sleeper.pid, "SIGTERM");
    expect(await Promise.all(waits)).toEqual([{ signal: "SIGTERM" }, { signal: "SIGTERM" }]);
    expect(await init.list()).toEqual([
      { pid, running: false, code: 77 },
      { pid: sleeper.pid, running: false, signal: "SIGTERM" },
    ]);
  });
});

testNeeding(
  ["root"],
  "what cannot be started is refused with the step that failed, and is not listed",
  async () => {
    await withSession("hardened", async ({ init }) => {
      const refused = (change: object) => init.spawn({ argv: ["cat"], env: ENV, ...change });
      await expect(refused({ argv: ["nope"] })).rejects.toMatchObject({
        code: "INIT_REFUSED",
        step: "exec",
        errno: -2,
      });
      await expect(refused({ cwd: "/nowhere" })).rejects.toMatchObject({ step: "cwd", errno: -2 });
      await expect(refused({ stdin: "/nowhere" })).rejects.toMatchObject({ step: "stdio", errno: -2 });
      await expect(refused({ stdout: "/usr" })).rejects.toMatchObject({ step: "stdio" });
      await expect(refused({ uid: 70_000 })).rejects.toMatchObject({ step: "ids", errno: -22 });
      await expect(refused({ argv: [] })).rejects.toMatchObject({ code: "REQUEST_INVALID" });
      await expect(refused({ stdout: "relative" })).rejects.toMatchObject({ code: "REQUEST_INVALID" });
      await expect(init.wait(9999)).rejects.toMatchObject({ step: "wait", errno: -10 });
      await expect(init.signal(1, "SIGKILL")).rejects.toMatchObject({ step: "protocol" });
      expect(await init.list()).toEqual([]);
    });
  },
);

testNeeding(
  ["root"],
  "a log that was made a link is refused, so that root writes no other file through it",
  async () => {
    await withSession("hardened", async ({ init, root }) => {
      const before = await root.readFile("/etc/hosts");
      expect(await shell(init, "ln -s /etc/hosts /tmp/log", { uid: 1000 })).toMatchObject({ code: 0 });
      const spawn = init.spawn({ argv: ["id"], env: ENV, stdout: "/tmp/log" });
      await expect(spawn).rejects.toMatchObject({ step: "stdio", errno: -40 });
      expect(await root.readFile("/etc/hosts")).toEqual(before);
    });
  },
);

testNeeding(["root"], "captured output is cut at the limit, and its files are gone afterwards", async () => {
  await withSession("hardened", async ({ init, root }) => {
    const { stdout, stderr, code } = await init.run({
      argv: ["sh", "-c", "seq 1000; seq 3 >&2; exit 4"],
      env: ENV,
      maxBytes: 10,
    });
    expect({ code, stdout: String(stdout), stderr: String(stderr) }).toEqual({
      code: 4,
      stdout: "1\n2\n3\n4\n5\n",
      stderr: "1\n2\n3\n",
    });
    expect(await root.list("/run/drums")).toEqual(["init.sock"]);
  });
});

testNeeding(["root"], "a captured program that takes too long is killed with its helpers", async () => {
  await withSession("hardened", async ({ init }) => {
    const run = init.run({ argv: ["sh", "-c", "sleep 1000 & sleep 1000"], env: ENV, timeoutMs: 100 });
    await expect(run).rejects.toMatchObject({ code: "TIMEOUT" });
    await until(async () =>
      (await shell(init, "grep -l sleep /proc/[0-9]*/comm")).stdout === "" ? true : undefined,
    );
  });
});

testNeeding(["root"], "thousands of orphans are reaped", async () => {
  await withSession("hardened", async ({ init }) => {
    const { pid } = await init.spawn({
      argv: ["sh", "-c", "i=0; while [ $i -lt 4000 ]; do (exec sh -c : &) ; i=$((i+1)); done"],
      env: ENV,
    });
    expect(await init.wait(pid)).toEqual({ code: 0 });
    // PID 1, and the three that ask.
    const count = async () => Number((await shell(init, "ls -d /proc/[0-9]* | grep -c .")).stdout);
    await until(async () => ((await count()) <= 4 ? true : undefined));
  });
});

testNeeding(["root"], "a pty has its size, takes what is typed and resizes", async () => {
  await withSession("hardened", async ({ init, root }) => {
    const { pid } = await init.spawn({
      argv: ["sh", "-c", "stty size; read line; stty size; echo got $line"],
      env: ENV,
      uid: 1000,
      pty: { rows: 30, cols: 90 },
      stdout: "/tmp/pty.log",
    });
    const log = async () => String(await root.readFile("/tmp/pty.log"));
    await until(async () => ((await log()).includes("30 90") ? true : undefined));
    await init.resizePty(pid, { rows: 10, cols: 20 });
    expect(await init.writePty(pid, "words\n")).toBe(6);
    expect(await init.wait(pid)).toEqual({ code: 0 });
    await until(async () => ((await log()).includes("got words") ? true : undefined));
    expect(await log()).toBe("30 90\r\nwords\r\n10 20\r\ngot words\r\n");
    await expect(init.writePty(pid, "more")).rejects.toMatchObject({ step: "pty" });
  });
});

testNeeding(["root"], "a thousand finished programs are remembered, the oldest forgotten first", async () => {
  await withSession("hardened", async ({ init }) => {
    const pids: number[] = [];
    for (let round = 0; round < 1100; round++) {
      const { pid } = await init.spawn({ argv: ["/bin/cat"], env: {} });
      pids.push(pid);
    }
    await Promise.all(pids.slice(-10).map((pid) => init.wait(pid)));
    expect(await init.list()).toHaveLength(1024);
    await expect(init.wait(pids[0] ?? 0)).rejects.toMatchObject({ step: "wait" });
    expect(await init.wait(pids.at(-1) ?? 0)).toEqual({ code: 0 });
  });
});

testNeeding(
  ["root"],
  "init needs less than a megabyte and has no descriptor more after all that",
  async () => {
    await withSession("hardened", async ({ init, session }) => {
      for (let round = 0; round < 50; round++) await init.run({ argv: ["cat"], env: ENV });
      const { vmRssKib } = await readStatus(session.initPid);
      expect(vmRssKib).toBeLessThan(1024);
      const { stdout } = await shell(init, "ls /proc/1/fd | grep -c .");
      // Three standard ones, signalfd, listener, this connection.
      expect(Number(stdout)).toBeLessThanOrEqual(6);
      expect(parseStatus(session.report.status).pid).toBe(1);
    });
  },
);

testNeeding(["root"], "a client learns that the session has ended", async () => {
  await withSession("hardened", async ({ init, session }) => {
    const { pid } = await init.spawn({ argv: ["sleep", "1000"], env: ENV });
    const waiting = init.wait(pid);
    process.kill(session.initPid, "SIGKILL");
    await expect(waiting).rejects.toMatchObject({ code: "SESSION_GONE" });
  });
});
