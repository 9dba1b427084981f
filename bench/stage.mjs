// A mounted root of the openbox image with fresh uppers, for launches that need no desktop. The uppers lie in memory,
// so that the launcher is measured and not the disk.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as drums from "../packages/cli/dist/index.js";
import { buildSessionPlan } from "../packages/nsexec/dist/index.js";
import { freshUpper, mountRoot } from "../packages/rootfs/dist/index.js";

export const run = promisify(execFile);

/** Gives `body` the root's path and a maker of session plans, and takes all down. */
export async function withStage({ home, image, profile }, body) {
  const holder = `bench-${process.pid}`;
  const root = await mountRoot({ image, stateDir: home.path, holder });
  const work = await mkdtemp("/dev/shm/drums-bench-");
  const init = await drums.initLayer({ home });
  let count = 0;
  const makePlan = async ({ profile: asked = profile } = {}) => {
    const own = join(work, String(count++));
    const owner = asked === "hardened" ? { owner: { uid: 0x4000_0000, gid: 0x4000_0000 } } : {};
    const { upper, work: workdir } = await freshUpper(own, owner);
    const scratch = join(own, "scratch");
    await mkdir(scratch);
    const lowers = [init.path, root.path].map((path) => ({ path, idmap: true }));
    return buildSessionPlan({ profile: asked, lowers, upper, work: workdir, scratch, hostname: "bench" })
      .plan;
  };
  try {
    return await body({ root: root.path, makePlan });
  } finally {
    await rm(work, { recursive: true, force: true });
    await root.release();
  }
}
