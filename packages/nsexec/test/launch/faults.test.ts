import { closeSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import {
  buildSessionPlan,
  initBinaryPath,
  type LaunchPlan,
  launchSession,
  SeqpacketChannel,
  spawnNative,
  sys,
} from "../../src/index.js";
import { parseControl } from "../../src/launch/control.js";
import { makeStage, type Stage } from "../support/session.js";

/** The plan with one thing wrong, and what the error must say. */
interface Fault {
  readonly name: string;
  spoil(plan: LaunchPlan, stage: Stage): LaunchPlan;
  readonly step: unknown;
  readonly path: RegExp;
  readonly errno: string;
}

const FAULTS: Fault[] = [
  {
    name: "a lower that is missing",
    spoil: (plan, stage) => {
      rmSync(join(stage.folder, "lower"), { recursive: true });
      return plan;
    },
    // A shifted layer is cloned by itself before the overlay is mounted.
    step: expect.stringMatching(/^(mount|layer)$/),
    path: /(scratch\/root|lower)$/,
    errno: "ENOENT",
  },
  {
    name: "a mount point that a layer made a link",
    spoil: (plan, stage) => {
      symlinkSync("/home", join(stage.folder, "lower/tmp"));
      return plan;
    },
    step: "folder",
    path: /^\/tmp$/,
    errno: "ELOOP",
  },
  {
    name: "a link as the target of a mount",
    spoil: (plan, stage) => {
      symlinkSync("/home", join(stage.folder, "lower/sneaky"));
      const mount = { kind: "mount", fsType: "tmpfs", source: "tmpfs", target: "/sneaky" } as const;
      return { ...plan, insideMounts: [...plan.insideMounts, mount] };
    },
    step: "mount",
    path: /^\/sneaky$/,
    errno: "ELOOP",
  },
  {
    name: "no drums-init in any layer",
    spoil: (plan, stage) => {
      rmSync(join(stage.folder, "init/usr/lib/drums/drums-init"));
      return plan;
    },
    step: "exec",
    path: /^\/usr\/lib\/drums\/drums-init$/,
    errno: "ENOENT",
  },
  {
    name: "a mount option that the filesystem does not know",
    spoil: (plan) => ({
      ...plan,
      insideMounts: plan.insideMounts.map((step) =>
        step.kind === "mount" && step.target === "/run" ? { ...step, data: "colour=blue" } : step,
      ),
    }),
    step: "mount",
    path: /^\/run$/,
    errno: "EINVAL",
  },
  {
    name: "a root that does not exist",
    spoil: (plan, stage) => ({ ...plan, root: join(stage.folder, "nowhere") }),
    step: "root",
    path: /nowhere$/,
    errno: "ENOENT",
  },
  {
    name: "a filter that is no program",
    spoil: (plan) => ({ ...plan, seccomp: Buffer.alloc(8, 0xff) }),
    step: "seccomp",
    path: /filter/,
    errno: "EINVAL",
  },
];

describe.each(["compat", "hardened"] as const)(
  "a %s launch fails at once, and leaves nothing, for",
  (profile) => {
    for (const fault of FAULTS)
      testNeeding(["root"], fault.name, async () => {
        const stage = makeStage(profile);
        const childrenBefore = children();
        try {
          const plan = fault.spoil(buildSessionPlan(stage.options).plan, stage);
          const error: unknown = await launchSession(plan).catch((thrown: unknown) => thrown);
          expect(error).toMatchObject({
            code: "LAUNCH_FAILED",
            step: fault.step,
            path: expect.stringMatching(fault.path),
          });
          expect(error).toMatchObject({
            message: expect.stringContaining(fault.errno),
            errno: expect.any(Number),
          });
          expect(children()).toEqual(childrenBefore);
          expect(sessionsOf(stage)).toEqual([]);
        } finally {
          stage.remove();
        }
      });
  },
);

testNeeding(["root"], "a target that leads out of the root by a link is made inside it", async () => {
  const stage = makeStage("compat");
  const outside = join(stage.folder, "outside");
  mkdirSync(outside);
  symlinkSync(outside, join(stage.folder, "lower/way-out"));
  try {
    const plan = buildSessionPlan(stage.options).plan;
    const file = { kind: "file", path: "/way-out/file", content: "x" } as const;
    const launch = launchSession({ ...plan, insideMounts: [...plan.insideMounts, file] });
    await expect(launch).rejects.toMatchObject({ step: "file", path: "/way-out/file" });
    expect(readdirSync(outside)).toEqual([]);
  } finally {
    stage.remove();
  }
});

testNeeding(["root"], "a file of the plan replaces a link and never writes through it", async () => {
  const stage = makeStage("compat");
  symlinkSync("/etc/victim", join(stage.folder, "lower/etc/hostname"));
  try {
    const session = await launchSession(buildSessionPlan(stage.options).plan);
    expect(readFileSync(join(stage.folder, "upper/etc/hostname"), "utf8")).toBe("stage\n");
    expect(readdirSync(join(stage.folder, "upper/etc"))).not.toContain("victim");
    await session.abort();
  } finally {
    stage.remove();
  }
});

describe("drums-init refuses, with the step plan, a packet that", () => {
  const magic = "drums-plan-1\0";
  const packets: Array<[string, string]> = [
    ["is of another version", "drums-plan-2\0"],
    ["does not end", `${magic}root`],
    ["lacks a count", `${magic}root\0/x\0`],
    ["counts more fields than it has", `${magic}env\x005\0a\0`],
    ["counts beyond all bounds", `${magic}env\x0018446744073709551615\0a\0`],
    ["names an unknown verb", `${magic}format\x001\0/\0`],
    ["gives too few fields", `${magic}host\x000\0mount\x001\0/x\0`],
    ["gives a number that is none", `${magic}namespaces\x001\x001x\0`],
    ["gives a path with ..", `${magic}root\x001\0/a/../b\0`],
    ["gives half a filter", `${magic}seccomp\x001\x0000ff\0`],
    ["puts a step before its phase", `${magic}mask\x001\0/x\0`],
    ["says nothing of the root", magic],
  ];
  testNeeding(["root"], "is malformed in any of these ways", async () => {
    for (const [name, packet] of packets) {
      const { status, said } = await launchRaw(Buffer.from(packet));
      expect(said?.verb, name).toBe("fail");
      expect(said?.fields[0], name).toBe("plan");
      expect(status, name).toEqual({ code: 125 });
    }
  });
});

testNeeding(
  ["root"],
  "drums-init survives any plan of random bytes: it says so and ends by itself",
  async () => {
    let seed = 20_261_201;
    const next = () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return seed >>> 16;
    };
    const words = [
      "host",
      "inside",
      "mount",
      "argv",
      "env",
      "groups",
      "limit",
      "1",
      "2",
      "-1",
      "/x",
      "",
      "99999999999",
    ];
    for (let round = 0; round < 150; round++) {
      const fields = Array.from({ length: next() % 12 }, () => words[next() % words.length]);
      const { status } = await launchRaw(Buffer.from(["drums-plan-1", ...fields, ""].join("\0")));
      expect(status).toEqual({ code: 125 });
    }
  },
);

test("drums-init tells a caller who names no socket how it is called", async () => {
  const child = spawnNative({ file: initBinaryPath(), argv: ["drums-init", "launch", "0"] });
  expect(await child.exited).toEqual({ code: 2 });
});

async function launchRaw(packet: Buffer) {
  const [ours, theirs] = sys.socketpairSeqpacket();
  const control = new SeqpacketChannel(ours);
  control.send(packet);
  const fds = [{ source: theirs, target: 3 }];
  const child = spawnNative({ file: initBinaryPath(), argv: ["drums-init", "launch", "3"], fds });
  closeSync(theirs);
  const answer = await control.receive({ timeoutMs: 10_000 });
  const status = await child.exited;
  control.close();
  return { status, said: answer && parseControl(answer.data) };
}

function children(): string {
  return readFileSync(`/proc/self/task/${process.pid}/children`, "utf8");
}

/** Processes, this one too, whose mount table names the stage. */
function sessionsOf(stage: Stage): string[] {
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/mountinfo`, "utf8").includes(stage.folder);
    } catch {
      return false;
    }
  });
}
