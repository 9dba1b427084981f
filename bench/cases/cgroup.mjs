import { spawn } from "node:child_process";
import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import * as cgroup2 from "../../packages/cgroup2/dist/index.js";
import { measure, report } from "../measure.mjs";

const PROCESSES = 45;
const LIMITS = {
  memoryMaxBytes: 2 ** 30,
  memorySwapMaxBytes: 0,
  pidsMax: 400,
  cpuMax: { quotaUsec: 150_000, periodUsec: 100_000 },
};

/** A session's group until its limits are in force, and the end of a desktop's processes in it. */
export default async function cgroup() {
  const hierarchy = await cgroup2.readHierarchy();
  if (hierarchy.mountPoint === undefined) return [];
  // Where v1 holds the controllers only the ways there and back are measured; the name says so.
  const offered = cgroup2.controllersFor(LIMITS).filter((name) => hierarchy.controllers.includes(name));
  let count = 0;
  const fresh = () => ["drums", `bench-${process.pid}-${count++}`];
  const limited = async () => {
    const began = performance.now();
    const group = await cgroup2.createGroup({ hierarchy, path: fresh() });
    await cgroup2.enableControllers(group, offered);
    await cgroup2.setLimits(group, LIMITS);
    await cgroup2.verifyLimits(group, LIMITS);
    const overriddenDuration = performance.now() - began;
    await group.remove();
    return { overriddenDuration };
  };
  const folder = join(hierarchy.mountPoint, `bench-${process.pid}`);
  const bare = async () => {
    await mkdir(folder);
    await rmdir(folder);
  };
  const ended = async () => {
    const group = await cgroup2.createGroup({ hierarchy, path: fresh() });
    const exits = await fill(group);
    const began = performance.now();
    await group.kill();
    const overriddenDuration = performance.now() - began;
    await Promise.all(exits);
    await group.remove();
    return { overriddenDuration };
  };
  const times = await measure({ limited, bare }, { iterations: 50 });
  const kills = await measure({ ended, one: oneByOne }, { iterations: 10, warmup: 1 });
  const controllers = offered.length === 0 ? "no controller on offer" : offered.join(", ");
  return [
    report({
      name: `a session's group made, enabled, limited, read back and verified (${controllers})`,
      own: times.limited,
      peer: times.bare,
      peerName: "mkdir and rmdir",
      goal: "at most 3 ms",
    }),
    report({
      name: `${PROCESSES} processes killed and their group empty`,
      own: kills.ended,
      peer: kills.one,
      peerName: "a signal to each, until the last has ended",
      goal: "at most 150 ms",
    }),
  ];
}

async function fill(group) {
  const children = await start();
  for (const { pid } of children) group.add(pid);
  return children.map(exit);
}

async function oneByOne() {
  const children = await start();
  const exits = children.map(exit);
  const began = performance.now();
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(exits);
  return { overriddenDuration: performance.now() - began };
}

function start() {
  const children = Array.from({ length: PROCESSES }, () => spawn("sleep", ["1000"], { stdio: "ignore" }));
  return Promise.all(
    children.map((child) => new Promise((resolve) => child.once("spawn", () => resolve(child)))),
  );
}

function exit(child) {
  return new Promise((resolve) => child.once("exit", resolve));
}
