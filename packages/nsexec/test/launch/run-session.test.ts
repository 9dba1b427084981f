import { closeSync, openSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import {
  buildSessionPlan,
  type ExitStatus,
  type LaunchPlan,
  launchSession,
  type NativeChild,
  runSession,
} from "../../src/index.js";
import { ENV, makeStage, PROFILES, type Stage } from "../support/session.js";

type Program = NonNullable<LaunchPlan["program"]>;

function planFor(stage: Stage, program: Partial<Program> & Pick<Program, "argv">): LaunchPlan {
  const { env: _, ...plan } = buildSessionPlan(stage.options).plan;
  return { ...plan, program: { file: "/bin/sh", env: ENV, ...program } };
}

/** Runs a shell line as PID 1 and gives its end and what it wrote to stdout. */
async function sh(
  stage: Stage,
  line: string,
  change: Partial<Program> = {},
): Promise<ExitStatus & { stdout: string }> {
  const output = join(stage.folder, "output");
  const fd = openSync(output, "w");
  try {
    const plan = planFor(stage, { argv: ["sh", "-c", line], ...change });
    const child = await runSession(plan, { fds: [{ source: fd, target: 1 }] });
    return { ...(await child.exited), stdout: readFileSync(output, "utf8") };
  } finally {
    closeSync(fd);
    unlinkSync(output);
  }
}

describe.each(PROFILES)("a program as PID 1 of a %s session", (profile) => {
  const onStage = (name: string, body: (stage: Stage) => Promise<void>) =>
    testNeeding(["root"], name, async () => {
      const stage = makeStage(profile);
      try {
        await body(stage);
      } finally {
        stage.remove();
      }
    });

  onStage("runs in the root, and its exit status is told", async (stage) => {
    expect(await sh(stage, "echo $$; exit 7")).toEqual({ code: 7, stdout: "1\n" });
  });

  onStage("is told by its signal where one ended it", async (stage) => {
    // PID 1 is deaf to its own signals: a filter that kills for getuid(2), number 102 on x86-64, is not.
    const filter = Buffer.alloc(32);
    const instructions = [
      [0x20, 0, 0, 0],
      [0x15, 0, 1, 102],
      [6, 0, 0, 0x80000000],
      [6, 0, 0, 0x7fff0000],
    ];
    instructions.forEach(([code = 0, jt = 0, jf = 0, k = 0], index) => {
      filter.writeUInt16LE(code, index * 8);
      filter.writeUInt8(jt, index * 8 + 2);
      filter.writeUInt8(jf, index * 8 + 3);
      filter.writeUInt32LE(k, index * 8 + 4);
    });
    const plan = { ...planFor(stage, { argv: ["sh", "-c", "exec id"] }), seccomp: filter };
    const child = await runSession(plan);
    expect(await child.exited).toEqual({ signal: "SIGSYS" });
  });

  onStage("has the ids, the groups, the folder and the environment that the plan names", async (stage) => {
    const line = "id -u; id -g; id -G; pwd; echo $COLOUR";
    const { stdout } = await sh(stage, line, {
      uid: 1000,
      gid: 1001,
      groups: [27],
      cwd: "/var/log",
      env: { ...ENV, COLOUR: "blue" },
    });
    expect(stdout).toBe("1000\n1001\n1001 27\n/var/log\nblue\n");
  });

  onStage("as another user has no capability, and can even where the plan keeps none", async (stage) => {
    const plan = planFor(stage, {
      argv: ["sh", "-c", "exec grep -q 'CapPrm:.*00000000$' /proc/self/status"],
      uid: 7,
    });
    const child = await runSession({ ...plan, capabilities: [] });
    expect(await child.exited).toEqual({ code: 0 });
  });

  onStage("has the session's own /dev/null where no descriptor is given, and no other one", async (stage) => {
    const { stdout } = await sh(stage, "exec ls -l /proc/self/fd");
    const links = [...stdout.matchAll(/(\d+) -> (.*)/g)].map(([, fd, target]) => `${fd} ${target}`);
    expect(links).toEqual([
      "0 /dev/null",
      expect.stringMatching(/^1 .*output$/),
      "2 /dev/null",
      expect.stringMatching(/^3 \/proc\//),
    ]);
  });

  onStage("needs no drums-init in its root", async (stage) => {
    unlinkSync(join(stage.folder, "init/usr/lib/drums/drums-init"));
    expect(await sh(stage, "exit 3")).toMatchObject({ code: 3 });
  });

  onStage("that cannot be executed is refused by its path", async (stage) => {
    writeFileSync(join(stage.folder, "lower/etc/data"), "no program", { mode: 0o644 });
    const refusals = [
      { file: "/no/such/program", errno: "ENOENT" },
      { file: "/etc/data", errno: "EACCES" },
    ];
    for (const { file, errno } of refusals)
      await expect(runSession(planFor(stage, { argv: ["x"], file }))).rejects.toMatchObject({
        code: "LAUNCH_FAILED",
        step: "exec",
        path: file,
        message: expect.stringContaining(errno),
      });
    const elsewhere = planFor(stage, { argv: ["sh"], cwd: "/no/such/folder" });
    await expect(runSession(elsewhere)).rejects.toMatchObject({ step: "cwd", path: "/no/such/folder" });
  });

  onStage("dies with the child that stands for it", async (stage) => {
    const ready = join(stage.folder, "upper/tmp-ready");
    const child = await runSession(
      planFor(stage, { argv: ["sh", "-c", "touch /tmp-ready; sleep 1000 & wait"] }),
    );
    while (!exists(ready)) await sleep(10);
    child.kill("SIGKILL");
    expect(await child.exited).toEqual({ signal: "SIGKILL" });
    // The upper can be stacked anew only once the session's overlay is gone.
    for (;;) {
      const again: NativeChild | Error = await runSession(
        planFor(stage, { argv: ["sh", "-c", "true"] }),
      ).catch((error: Error) => error);
      if (!(again instanceof Error)) {
        expect(await again.exited).toEqual({ code: 0 });
        return;
      }
      expect(again).toMatchObject({ reason: "OVERLAY_IN_USE" });
      await sleep(20);
    }
  });
});

testNeeding(["root"], "a session's clocks are ahead by what its time namespace is given", async () => {
  const stage = makeStage("hardened");
  try {
    const host = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
    const plan = planFor(stage, { argv: ["sh", "-c", "exec cat /proc/uptime"] });
    const inside = await uptimeOf(stage, {
      ...plan,
      namespaces: [...plan.namespaces, "time"],
      timeOffsets: { monotonic: 86_400, boottime: 86_400 },
    });
    expect(inside - host).toBeGreaterThanOrEqual(86_399);
    expect(inside - host).toBeLessThan(86_400 + 600);
  } finally {
    stage.remove();
  }
});

testNeeding(["root"], "clocks that would run before the host's start are refused", async () => {
  const stage = makeStage("compat");
  try {
    const plan = planFor(stage, { argv: ["sh", "-c", "true"] });
    const before = {
      ...plan,
      namespaces: [...plan.namespaces, "time" as const],
      timeOffsets: { boottime: -(2 ** 40) },
    };
    await expect(runSession(before)).rejects.toMatchObject({ step: "time-namespace" });
  } finally {
    stage.remove();
  }
});

testNeeding(["root"], "a mount spreads as the plan's propagation says", async () => {
  const stage = makeStage("compat");
  try {
    const modes = ["shared", "slave", "private", "unbindable"] as const;
    const plan = planFor(stage, { argv: ["sh", "-c", "exec cat /proc/self/mountinfo"] });
    const steps = modes.flatMap((mode) => [
      { kind: "folder" as const, path: `/mnt/${mode}` },
      { kind: "mount" as const, fsType: "tmpfs", source: mode, target: `/mnt/${mode}`, data: "size=4k" },
      { kind: "propagation" as const, target: `/mnt/${mode}`, mode },
    ]);
    const text = await outputOf(stage, { ...plan, insideMounts: [...plan.insideMounts, ...steps] });
    const fields = Object.fromEntries(
      modes.map((mode) => [mode, new RegExp(` /mnt/${mode} \\S+ (.*?)- tmpfs`).exec(text)?.[1]?.trim()]),
    );
    // A slave without a master is private.
    expect(fields).toEqual({
      shared: expect.stringMatching(/^shared:\d+$/),
      slave: "",
      private: "",
      unbindable: "unbindable",
    });
  } finally {
    stage.remove();
  }
});

test("a plan is for runSession exactly where it names a program", async () => {
  const plan: LaunchPlan = {
    namespaces: ["mnt", "pid", "uts"],
    hostMounts: [],
    root: "/srv/root",
    insideMounts: [],
    hostname: "stage",
  };
  const program = { file: "/bin/true", argv: ["true"] };
  await expect(runSession(plan)).rejects.toMatchObject({ code: "PLAN_INVALID" });
  await expect(launchSession({ ...plan, program })).rejects.toMatchObject({ code: "PLAN_INVALID" });
  const extra = runSession({ ...plan, program }, { fds: [{ source: 0, target: 3 }] });
  await expect(extra).rejects.toMatchObject({ code: "PLAN_INVALID", message: expect.stringContaining("3") });
});

async function uptimeOf(stage: Stage, plan: LaunchPlan): Promise<number> {
  return Number((await outputOf(stage, plan)).split(" ")[0]);
}

async function outputOf(stage: Stage, plan: LaunchPlan): Promise<string> {
  const output = join(stage.folder, "output");
  const fd = openSync(output, "w");
  try {
    const child = await runSession(plan, { fds: [{ source: fd, target: 1 }] });
    expect(await child.exited).toEqual({ code: 0 });
    return readFileSync(output, "utf8");
  } finally {
    closeSync(fd);
  }
}

function exists(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
