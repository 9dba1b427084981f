import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect } from "vitest";
import { testNeeding } from "../testing/needs.js";

const RUN = fileURLToPath(new URL("../vm/run.sh", import.meta.url));
const IMAGE = fileURLToPath(new URL("../vm/image.sh", import.meta.url));
const NEEDS = ["root", "program:qemu-system-x86_64", "program:mmdebstrap", "program:bash"] as const;

/** A cache of these tests' own with the guest's image in it, so that what runs leave behind can be told from others'. */
let cache: string;

beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), "drums-vm-"));
  const built = await finished(spawn("bash", [IMAGE], { stdio: ["ignore", "pipe", "inherit"] }));
  const image = built.out.trim();
  await mkdir(cache, { recursive: true });
  await symlink(image, join(cache, image.slice(image.lastIndexOf("/") + 1)));
}, 300_000);
afterAll(() => rm(cache, { recursive: true, force: true }));

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  const environment = { ...process.env, DRUMS_VM_CACHE: cache, ...env };
  return spawn("bash", [RUN, ...args], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
}

async function finished(child: ChildProcess) {
  const [out, err] = [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : ""));
  const [status] = await once(child, "exit");
  return { status, out: (await out) ?? "", err: (await err) ?? "" };
}

const runFolders = async () => (await readdir(cache)).filter((name) => name.startsWith("run-"));

/** Host processes that hold anything of the cache's by their command line. */
async function daemons(): Promise<string[]> {
  const lines = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const read = lines.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""));
  return (await Promise.all(read)).filter(
    (line) => line.includes(cache) && /^[^\0]*(qemu|virtiofsd)/.test(line),
  );
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; !(await holds()); await sleep(50))
    if (Date.now() > end) throw new Error("it did not come about within 30 s");
}

testNeeding(
  NEEDS,
  "a command runs in the guest: its output and its status come back, the repository is read-only, nothing stays",
  async () => {
    const command = "cat /sys/fs/cgroup/cgroup.controllers; touch /share/README.md || exit 7";
    const { status, out } = await finished(start([command]));
    expect({ status, out }).toMatchObject({ status: 7, out: expect.stringContaining("cpu io memory") });
    expect([await daemons(), await runFolders()]).toEqual([[], []]);
  },
  120_000,
);

testNeeding(
  NEEDS,
  "a guest that tells no status in its time is a failure, and is ended",
  async () => {
    const { status, err } = await finished(start(["sleep 1000"], { DRUMS_VM_SECONDS: "8" }));
    expect({ status, err }).toMatchObject({
      status: 4,
      err: expect.stringContaining("no status within 8 s"),
    });
    expect([await daemons(), await runFolders()]).toEqual([[], []]);
  },
  120_000,
);

testNeeding(
  NEEDS,
  "of a run that is killed no process stays, and its folder goes with the next run",
  async () => {
    const child = start(["sleep 1000"]);
    await until(async () => (await daemons()).length >= 2);
    child.kill("SIGKILL");
    await until(async () => (await daemons()).length === 0);
    expect(await runFolders()).toHaveLength(1);
    expect(await finished(start(["true"]))).toMatchObject({ status: 0 });
    expect(await runFolders()).toEqual([]);
  },
  120_000,
);
