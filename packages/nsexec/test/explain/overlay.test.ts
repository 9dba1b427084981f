import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { buildSessionPlan, type LaunchPlan, launchSession, type MountStep } from "../../src/index.js";
import { makeStage, PROFILES, type Stage } from "../support/session.js";
import { launchAmong } from "../support/surroundings.js";

/** How overlayfs is made to refuse, and the cause that the error must name. */
interface Refusal {
  readonly name: string;
  readonly reason: string;
  readonly hint: RegExp;
  spoil(stage: Stage): LaunchPlan | Promise<LaunchPlan>;
}

const planOf = (stage: Stage, change: Partial<Stage["options"]> = {}): LaunchPlan =>
  buildSessionPlan({ ...stage.options, ...change }).plan;

const REFUSALS: Refusal[] = [
  {
    name: "an upper that was stacked on other layers before",
    reason: "OVERLAY_UPPER_OF_ANOTHER_STACK",
    hint: /fresh/,
    spoil: async (stage) => {
      const session = await launchSession(planOf(stage));
      await session.abort();
      return planOf(stage, { lowers: [...stage.options.lowers].reverse() });
    },
  },
  {
    name: "a lower that is the upper of the same overlay",
    reason: "OVERLAY_FOLDERS_NESTED",
    hint: /own/,
    spoil: (stage) =>
      withOverlay(stage, (data) => data.replace(/lowerdir=[^,]*/, `lowerdir=${at(stage, "upper")}`)),
  },
  {
    name: "a work folder inside the upper",
    reason: "OVERLAY_WORK_NESTED",
    hint: /side by side/,
    spoil: (stage) => {
      mkdirSync(at(stage, "upper/work"));
      return withOverlay(stage, (data) =>
        data.replace(/workdir=[^,]*/, `workdir=${at(stage, "upper/work")}`),
      );
    },
  },
  {
    name: "a work folder on another filesystem",
    reason: "OVERLAY_WORK_ELSEWHERE",
    hint: /filesystem of the upper/,
    spoil: (stage) => withOverlay(stage, (data) => data.replace(/workdir=[^,]*/, "workdir=/dev/shm")),
  },
  {
    name: "a layer that is a file",
    reason: "OVERLAY_NOT_A_FOLDER",
    hint: /file/,
    spoil: (stage) => {
      writeFileSync(at(stage, "file"), "");
      return withOverlay(stage, (data) => data.replace("lowerdir=", `lowerdir=${at(stage, "file")}:`));
    },
  },
  {
    name: "more layers than the kernel takes",
    reason: "OVERLAY_TOO_MANY_LAYERS",
    hint: /500/,
    spoil: (stage) => {
      const short = "/ttt";
      return withOverlay(stage, () => `lowerdir=${`${short}:`.repeat(501)}${short}`);
    },
  },
  {
    name: "a layer that is missing",
    reason: "OVERLAY_FOLDER_MISSING",
    hint: /nowhere/,
    spoil: (stage) =>
      withOverlay(stage, (data) => data.replace("lowerdir=", `lowerdir=${at(stage, "nowhere")}:`)),
  },
  {
    name: "an option that overlayfs does not know",
    reason: "OVERLAY_REFUSED",
    hint: /dmesg/,
    spoil: (stage) => withOverlay(stage, (data) => `${data},colour=blue`),
  },
];

const at = (stage: Stage, name: string) => join(stage.folder, name);

/** The session's plan with the options of its overlay changed. */
function withOverlay(stage: Stage, change: (data: string) => string): LaunchPlan {
  const plan = planOf(stage);
  const altered = (step: MountStep): MountStep =>
    step.kind === "mount" && step.fsType === "overlay" ? { ...step, data: change(step.data ?? "") } : step;
  return { ...plan, hostMounts: plan.hostMounts.map(altered) };
}

describe.each(PROFILES)("what overlayfs refuses is named in a %s launch:", (profile) => {
  for (const refusal of REFUSALS)
    testNeeding(["root"], refusal.name, async () => {
      const stage = makeStage(profile);
      try {
        const plan = await refusal.spoil(stage);
        await expect(launchSession(plan)).rejects.toMatchObject({
          code: "LAUNCH_FAILED",
          step: "mount",
          reason: refusal.reason,
          hint: expect.stringMatching(refusal.hint),
        });
      } finally {
        stage.remove();
      }
    });

  testNeeding(["root"], "an upper that a live session has", async () => {
    const stage = makeStage(profile);
    try {
      const live = await launchSession(planOf(stage));
      mkdirSync(at(stage, "other"));
      const second = launchSession(planOf(stage, { scratch: at(stage, "other") }));
      await expect(second).rejects.toMatchObject({ reason: "OVERLAY_IN_USE" });
      await live.abort();
    } finally {
      stage.remove();
    }
  });

  const surroundings: Array<[name: string, reason: string, lines: string, change: Change]> = [
    [
      "an upper that is itself on an overlay",
      "OVERLAY_UPPER_ON_OVERLAY",
      'mkdir u w mid; mount -t overlay o -o lowerdir=lower,upperdir=u,workdir=w mid; mkdir mid/u mid/w; "$@"',
      (stage) => ({ upper: at(stage, "mid/u"), work: at(stage, "mid/w") }),
    ],
    [
      "an upper on a filesystem that is mounted read-only",
      "OVERLAY_UPPER_READ_ONLY",
      'mkdir ro; mount -t tmpfs ro ro; mkdir ro/u ro/w; mount -o remount,ro ro; "$@"',
      (stage) => ({ upper: at(stage, "ro/u"), work: at(stage, "ro/w") }),
    ],
  ];
  for (const [name, reason, lines, change] of surroundings)
    testNeeding(["root"], name, async () => {
      const stage = makeStage(profile);
      try {
        const said = await launchAmong(`cd ${stage.folder}; ${lines}`, {
          ...stage.options,
          ...change(stage),
        });
        expect(said).toMatchObject({ code: "LAUNCH_FAILED", step: "mount", reason });
      } finally {
        stage.remove();
      }
    });
});

testNeeding(["root"], "an overlay on an overlay on an overlay is named", async () => {
  const stage = makeStage("compat");
  try {
    const lines = `cd ${stage.folder}; mkdir m1 m2; mount -t overlay o -o lowerdir=lower:init m1; mount -t overlay o -o lowerdir=m1:init m2; "$@"`;
    const lowers = ["init", "m2"].map((name) => ({ path: at(stage, name), idmap: true }));
    expect(await launchAmong(lines, { ...stage.options, lowers })).toMatchObject({
      reason: "OVERLAY_TOO_DEEP",
    });
  } finally {
    stage.remove();
  }
});

type Change = (stage: Stage) => Partial<Stage["options"]>;
