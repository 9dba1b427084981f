import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import {
  auditSettled,
  type CheckpointFlags,
  type DumpReport,
  dump,
  imageSizes,
  openKernelCache,
  restore,
} from "../../src/index.js";
import { CRIU_NEEDS, TEST_HOME, testCriu } from "../helpers/criu.js";
import { type Desk, launchDesk, withInit } from "../helpers/desk.js";
import { copyUpper, until } from "../helpers/session.js";

let desk: Desk | undefined;
afterEach(async () => {
  await desk?.end();
  desk = undefined;
});

/** Says what it is told through a file, and counts: memory and files of one process. */
const PROGRAM = `n=0; while :; do n=$((n+1)); echo $n > /tmp/count; read -r word < /said 2>/dev/null && echo "$word after $n" > /answer; sleep 0.02; done`;

async function startProgram(pid: number): Promise<void> {
  await withInit(pid, async (init, root) => {
    await init.spawn({ argv: ["/bin/sh", "-c", PROGRAM], env: { PATH: "/bin" }, uid: 0, gid: 0 });
    await until(
      "the count",
      async () => Number((await root.readFile("/tmp/count")).toString()) > 5 || undefined,
    );
  });
}

async function dumpDesk(one: Desk, name: string, flags: Partial<CheckpointFlags> = {}): Promise<DumpReport> {
  const criu = await testCriu();
  const cache = await openKernelCache(criu, { home: TEST_HOME });
  return dump({
    criu,
    pid: one.initPid,
    imagesDir: join(one.folder, name, "images"),
    workDir: join(one.folder, name),
    externals: one.externals,
    flags,
    start: { mounts: cache.mounts },
    onPostDump: () => copyUpper(one.upper, join(one.folder, name, "layer")),
    onNotify: ({ stage, criuPid }) => (stage === "pre-dump" ? cache.keep(criuPid) : undefined),
  });
}

async function restoreSibling(
  one: Desk,
  checkpoint: string,
  name: string,
  flags: Partial<CheckpointFlags> = {},
): Promise<number> {
  const criu = await testCriu();
  const cache = await openKernelCache(criu, { home: TEST_HOME });
  const { hostMounts, root, idMap, externals } = await one.groundFor(
    name,
    join(one.folder, checkpoint, "layer"),
  );
  const { pid } = await restore({
    criu,
    imagesDir: join(one.folder, checkpoint, "images"),
    workDir: join(one.folder, name, "criu"),
    root,
    hostMounts: [...cache.mounts, ...hostMounts],
    ...(idMap === undefined ? {} : { idMap }),
    externals,
    flags,
  });
  one.adopt(pid);
  return pid;
}

/** Tells one session a word and waits for its program's own answer to it. */
function tell(pid: number, word: string): Promise<string> {
  return withInit(pid, async (init, root) => {
    const argv = ["/bin/sh", "-c", `echo ${word} > /said.new; cat /said.new > /said`];
    await init.run({ argv, env: { PATH: "/bin" }, uid: 0, gid: 0 });
    return until(`the answer to ${word}`, async () => {
      const answer = (await root.readFile("/answer")).toString().trim();
      return answer.startsWith(word) ? answer : undefined;
    });
  });
}

for (const profile of ["compat", "hardened"] as const) {
  testNeeding(
    CRIU_NEEDS,
    `a ${profile} session is dumped while it runs, and three siblings live on, each by itself`,
    async () => {
      const one = await launchDesk(profile);
      desk = one;
      await startProgram(one.initPid);
      const audit = await auditSettled({ initPid: one.initPid, externals: one.externals });
      expect(audit.findings.filter(({ severity }) => severity === "refuses")).toEqual([]);

      const report = await dumpDesk(one, "checkpoint");
      expect(report.frozenMs).toBeGreaterThan(0);
      expect(report.bytes).toBeGreaterThan(100_000);
      const siblings = await Promise.all(
        ["one", "two", "three"].map((name) => restoreSibling(one, "checkpoint", name)),
      );

      const sessions = [one.initPid, ...siblings];
      const words = ["original", "alpha", "beta", "gamma"];
      const answers = await Promise.all(sessions.map((pid, index) => tell(pid, words[index] ?? "")));
      expect(answers.map((answer) => answer.split(" ")[0])).toEqual(words);
      const namespaces = sessions.map((pid) => readlinkSync(`/proc/${pid}/ns/mnt`));
      expect(new Set(namespaces).size).toBe(4);
    },
    60_000,
  );
}

testNeeding(
  CRIU_NEEDS,
  "inner pids, capabilities and the filter are the same in a sibling, and its parent is not this process",
  async () => {
    const one = await launchDesk("compat");
    desk = one;
    await startProgram(one.initPid);
    await dumpDesk(one, "checkpoint");
    const sibling = await restoreSibling(one, "checkpoint", "one");
    const facts = (pid: number) =>
      readFileSync(`/proc/${pid}/status`, "utf8").match(/^(CapBnd|NoNewPrivs|Seccomp|Uid):.*$/gm);
    expect(facts(sibling)).toEqual(facts(one.initPid));
    const children = (pid: number) =>
      withInit(pid, async (init) => (await init.list()).map((child) => child.pid));
    expect(await children(sibling)).toEqual(await children(one.initPid));
    const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${sibling}/status`, "utf8"))?.[1];
    expect(Number(parent)).not.toBe(process.pid);
    expect(readFileSync(`/proc/${parent}/comm`, "utf8")).not.toMatch(/criu|ld\.so/);
  },
);

testNeeding(CRIU_NEEDS, "a sibling of a sibling is dumped and restored too", async () => {
  const one = await launchDesk("compat");
  desk = one;
  await startProgram(one.initPid);
  await dumpDesk(one, "first");
  const child = await restoreSibling(one, "first", "child");
  expect(await tell(child, "second")).toContain("second");
  const criu = await testCriu();
  await dump({ criu, pid: child, imagesDir: join(one.folder, "second"), leaveRunning: true });
  expect(await tell(child, "still")).toContain("still");
});

/** Prints some megabytes that gzip makes smaller. */
const MUCH = "i=0; while [ $i -lt 100 ]; do cat /bin/cat; i=$((i+1)); done";
const BIN = { PATH: "/bin:/usr/bin" };

for (const profile of ["compat", "hardened"] as const)
  testNeeding(
    CRIU_NEEDS,
    `what lies in a tmpfs of a ${profile} session comes back, plain or packed`,
    async () => {
      const one = await launchDesk(profile);
      desk = one;
      await withInit(one.initPid, async (init) => {
        await init.run({ argv: ["/bin/sh", "-c", `${MUCH} > /tmp/much`], env: BIN, uid: 0, gid: 0 });
      });
      const tmpfs: number[] = [];
      for (const plainTmpfs of [true, false]) {
        const name = plainTmpfs ? "plain" : "packed";
        await dumpDesk(one, name, { plainTmpfs });
        tmpfs.push((await imageSizes(join(one.folder, name, "images"))).tmpfs);
        const pid = await restoreSibling(one, name, `${name}-sibling`, { plainTmpfs });
        await withInit(pid, async (init) => {
          const argv = ["/bin/sh", "-c", `${MUCH} | cmp - /tmp/much`];
          const { code, stdout, stderr } = await init.run({ argv, env: BIN, uid: 0, gid: 0 });
          expect({ code, said: `${stdout}${stderr}` }).toEqual({ code: 0, said: "" });
        });
      }
      const [plain = 0, packed = 0] = tmpfs;
      expect(packed).toBeLessThan(plain / 2);
    },
    60_000,
  );
