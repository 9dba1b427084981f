// Speeds of the main job on this machine: median, spread, and a ratio against a peer in the same run.
// Needs root, a built tree (`pnpm run build`), bubblewrap, and the openbox image (made where it is missing).
import { execFile } from "node:child_process";
import { closeSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as drums from "../packages/cli/dist/index.js";
import { auditSession } from "../packages/criu/dist/index.js";
import { buildSessionPlan, launchSession, sys } from "../packages/nsexec/dist/index.js";
import { freshUpper, mountRoot } from "../packages/rootfs/dist/index.js";
import { measure, report } from "./measure.mjs";

const run = promisify(execFile);
const profile = process.argv.includes("--compat") ? "compat" : "hardened";
const home = await drums.createHome(drums.findHome());
const quiet = { step: (_name, body) => body(), update: () => {} };
const say = (text) => process.stderr.write(`${text}\n`);

say(`profile ${profile}; the machine is shared and noisy: read ratios before milliseconds`);
const image = (await drums.buildImage("openbox", { home })).path;
const criu = await drums.criuFor(home, quiet);
const results = [];
const { live, folder } = await drums.upSession(home, { image, desktop: "openbox", profile });
const checkpoint = `bench-${process.pid}`;
try {
  results.push(await launch());
  results.push(await screenshot());
  results.push(await audit());
  await drums.createCheckpoint(home, live.record, { name: checkpoint, criu });
  results.push(await restore());
} finally {
  live.close();
  await drums.removeSession(home, folder);
  await rm(home.entry("checkpoints", checkpoint), { recursive: true, force: true });
}
await writeFile(
  "bench/results.json",
  `${JSON.stringify({ profile, at: new Date().toISOString(), results }, null, 2)}\n`,
);

async function launch() {
  const root = await mountRoot({ image, stateDir: home.path, holder: `bench-${process.pid}` });
  const work = await mkdtemp(join(home.path, "bench-"));
  const init = await drums.initLayer({ home });
  let count = 0;
  try {
    const times = await measure({
      drums: async () => {
        const own = join(work, String(count++));
        const owner = profile === "hardened" ? { owner: { uid: 0x4000_0000, gid: 0x4000_0000 } } : {};
        const { upper, work: workdir } = await freshUpper(own, owner);
        const scratch = join(own, "scratch");
        await run("mkdir", [scratch]);
        const lowers = [init.path, root.path].map((path) => ({ path, idmap: true }));
        const { plan } = buildSessionPlan({
          profile,
          lowers,
          upper,
          work: workdir,
          scratch,
          hostname: "bench",
        });
        const began = performance.now();
        const pending = await launchSession(plan);
        await pending.go();
        const took = performance.now() - began;
        await end(pending.initPid);
        return { overriddenDuration: took };
      },
      bwrap: async () => {
        const began = performance.now();
        await run("bwrap", [
          "--unshare-all",
          "--ro-bind",
          root.path,
          "/",
          "--dev",
          "/dev",
          "--proc",
          "/proc",
          "/bin/true",
        ]);
        return { overriddenDuration: performance.now() - began };
      },
    });
    const names = { peer: times.bwrap, peerName: "bwrap /bin/true on the same root" };
    return report({ name: "session launched to go", own: times.drums, ...names, goal: "ratio at most 2" });
  } finally {
    await rm(work, { recursive: true, force: true });
    await root.release();
  }
}

/** Its end is not part of the next one's time. */
async function end(pid) {
  const pidfd = sys.pidfdOpen(pid);
  sys.pidfdSendSignal(pidfd, "SIGKILL");
  await sys.pidfdWait(pidfd);
  closeSync(pidfd);
}

async function screenshot() {
  const folder = await mkdtemp(join(tmpdir(), "drums-bench-"));
  try {
    const file = join(folder, "frame");
    await writeFile(file, Buffer.alloc(1280 * 800 * 4));
    const times = await measure(
      { drums: () => live.rawFrame(), rgba: () => live.frame(), file: () => readFile(file) },
      { iterations: 100 },
    );
    const names = { peer: times.file, peerName: "reading a file of that size" };
    report({ name: "screenshot as RGBA", own: times.rgba, ...names, goal: "none" });
    return report({ name: "raw screenshot, 1280×800", own: times.drums, ...names, goal: "at most 2 ms" });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function audit() {
  const { init, externals } = live.record;
  const times = await measure({
    drums: () => auditSession({ initPid: init.pid, externals }),
    ls: () => run("ls", ["-l", `/proc/${init.pid}/fd`]),
  });
  const names = { peer: times.ls, peerName: "ls -l of one /proc/PID/fd" };
  return report({ name: "audit of a session", own: times.drums, ...names, goal: "at most 20 ms" });
}

async function restore() {
  const loaded = await drums.loadCheckpoint(home, checkpoint, { criu });
  const up = async () => {
    const began = performance.now();
    const booted = await drums.upSession(home, { image, desktop: "openbox", profile });
    const took = performance.now() - began;
    booted.live.close();
    await drums.removeSession(home, booted.folder);
    return { overriddenDuration: took };
  };
  const own = async () => {
    const sibling = await drums.restoreSibling(home, loaded, { criu });
    sibling.live.close();
    await drums.removeSession(home, sibling.folder);
    return { overriddenDuration: sibling.report.totalMs };
  };
  const times = {
    ...(await measure({ drums: own }, { iterations: 20 })),
    ...(await measure({ up }, { iterations: 5, warmup: 1 })),
  };
  const names = { peer: times.up, peerName: "the same desktop from its image, to usable" };
  return report({ name: "one sibling restored", own: times.drums, ...names, goal: "at most 130 ms" });
}
