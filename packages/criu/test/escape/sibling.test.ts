import { join } from "node:path";
import { readStartTime } from "@drums/nsexec/proc";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { differences, record } from "../../../nsexec/test/escape/record.js";
import { makeAttempts, plantAttempts } from "../../../nsexec/test/escape/run.js";
import { dump, restore } from "../../src/index.js";
import { CRIU_NEEDS, testCriu } from "../helpers/criu.js";
import { type Desk, launchDesk, withInit } from "../helpers/desk.js";
import { copyUpper } from "../helpers/session.js";

const WHO = { user: 1000, root: 0 } as const;

/** A sibling of a session that was dumped as it came up. */
async function forkOf(one: Desk): Promise<{ pid: number; upper: string }> {
  const criu = await testCriu();
  const checkpoint = join(one.folder, "checkpoint");
  await dump({
    criu,
    pid: one.initPid,
    imagesDir: join(checkpoint, "images"),
    workDir: checkpoint,
    externals: one.externals,
    onPostDump: () => copyUpper(one.upper, join(checkpoint, "layer")),
  });
  const { hostMounts, root, idMap, externals } = await one.groundFor("sibling", join(checkpoint, "layer"));
  const { pid } = await restore({
    criu,
    imagesDir: join(checkpoint, "images"),
    workDir: join(one.folder, "sibling/criu"),
    root,
    hostMounts,
    ...(idMap === undefined ? {} : { idMap }),
    externals,
  });
  one.adopt(pid);
  return { pid, upper: join(one.folder, "sibling/upper") };
}

describe.each(["hardened", "compat"] as const)("attempts to get out of a restored %s sibling", (profile) => {
  testNeeding(
    [...CRIU_NEEDS, "program:gcc"],
    "give what the record says, by user and by root",
    async () => {
      const one = await launchDesk(profile, { fill: plantAttempts });
      try {
        const { pid, upper } = await forkOf(one);
        for (const [who, uid] of Object.entries(WHO)) {
          const column = `${profile} sibling ${who as keyof typeof WHO}` as const;
          const startTime = await readStartTime(pid);
          const layer = join(one.folder, "lower");
          const outcomes = await withInit(pid, (init) =>
            makeAttempts({ init, initPid: pid, startTime, uid, layer, upper }),
          );
          record(column, outcomes);
          expect(differences(column, outcomes)).toEqual([]);
        }
      } finally {
        await one.end();
      }
    },
    120_000,
  );
});
