import { closeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createGroup, type Group, readHierarchy } from "@drums/cgroup2";
import { launchSession } from "@drums/nsexec";
import { describe, expect } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { launchInit } from "../../src/session/boot/launch.js";
import { sessionPlan } from "../../src/session/boot/plan.js";
import { type Prepared, withBareHome } from "../support/bare-session.js";

const NEEDS: readonly Need[] = ["root", "cgroup2"];

function groupOf({ input: { group } }: Prepared): Group {
  if (group === undefined) throw new Error("there is no cgroup2 here");
  return group;
}

/** Launches into the session's group, which is frozen: its first process is born there and runs nothing. */
async function launchFrozen(prepared: Prepared, timeoutMs: number) {
  const group = groupOf(prepared);
  await group.freeze();
  const { plan } = await sessionPlan(prepared.input);
  const cgroupFd = group.openFd();
  try {
    return await launchSession(plan, { cgroupFd, timeoutMs });
  } finally {
    closeSync(cgroupFd);
  }
}

describe("a session is refused before go, and nothing of it stays,", () => {
  testNeeding(NEEDS, "where its first process was taken to another group", async () => {
    await withBareHome(async ({ prepare }) => {
      const prepared = await prepare();
      const path = ["drums", `elsewhere-${prepared.folder.id}`];
      const elsewhere = await createGroup({ hierarchy: await readHierarchy(), path });
      const move = async () => groupOf(prepared).procs().forEach(elsewhere.add);
      await expect(launchInit(prepared.input, { reported: move })).rejects.toMatchObject({
        code: "HANDSHAKE_REFUSED",
        why: expect.stringContaining("cgroup: listed"),
      });
      await elsewhere.waitEmpty();
      await elsewhere.remove();
    });
  });

  testNeeding(
    NEEDS,
    "where its report comes too late: it is in its group before anything of it runs",
    async () => {
      await withBareHome(async ({ prepare }) => {
        const prepared = await prepare();
        await expect(launchFrozen(prepared, 1000)).rejects.toMatchObject({ code: "TIMEOUT" });
        await groupOf(prepared).waitEmpty();
      });
    },
  );

  testNeeding(NEEDS, "where no report comes, for its first process was killed", async () => {
    await withBareHome(async ({ prepare }) => {
      const prepared = await prepare();
      const launched = launchFrozen(prepared, 30_000).catch((error: unknown) => error);
      while (groupOf(prepared).procs().length === 0) await sleep(10);
      await groupOf(prepared).kill();
      expect(await launched).toMatchObject({ code: "LAUNCH_FAILED" });
    });
  });

  testNeeding(
    NEEDS,
    "where a limit is asked for that no controller can hold, unless that was allowed",
    async () => {
      await withBareHome(async ({ prepare }) => {
        // A group that the limits were never set on, as where another took them back.
        const [strict, lenient] = [await prepare(), await prepare()];
        const limits = { pidsMax: 40 };
        const inputOf = ({ input }: Prepared, allowUnlimited: boolean) => ({
          ...input,
          spec: { ...input.spec, limits, allowUnlimited },
        });
        await expect(launchInit(inputOf(strict, false))).rejects.toMatchObject({
          code: "HANDSHAKE_REFUSED",
          why: expect.stringMatching(/^limit pidsMax: not in force: /),
        });
        await groupOf(strict).waitEmpty();
        const { checks } = await launchInit(inputOf(lenient, true));
        expect(checks.find(({ name }) => name === "limit pidsMax")).toMatchObject({ ok: true });
      });
    },
  );
});
