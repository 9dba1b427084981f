import { appendFileSync, closeSync, mkdirSync, openSync, readdirSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { CriuError, dump, type RestoreOptions, restore } from "../../src/index.js";
import { CRIU_NEEDS, testCriu } from "../helpers/criu.js";
import { processesOn } from "../helpers/processes.js";
import {
  COUNT,
  copyUpper,
  endProcess,
  launchTiny,
  overlayData,
  type TinySession,
  until,
} from "../helpers/session.js";

let session: TinySession;
beforeEach(async () => {
  session = await launchTiny(`trap 'echo told' USR1; ${COUNT}`);
  await until("the count", async () => Number(await session.read("count")) > 2 || undefined);
  await dump({
    criu: await testCriu(),
    pid: session.pid,
    imagesDir: join(session.folder, "images"),
    leaveRunning: false,
    onPostDump: () => copyUpper(session.upper, join(session.folder, "layer")),
  });
});
afterEach(() => session.end());

/** On the /run of criu's own mount namespace. */
const ROOT = "/run/drums-test-root";

async function restoreIt(name: string, more: Partial<RestoreOptions> = {}) {
  const [upper, work] = ["upper", "work"].map((part) => join(session.folder, name, part)) as [string, string];
  for (const folder of [upper, work]) mkdirSync(folder, { recursive: true });
  const data = overlayData({ lowers: [join(session.folder, "layer"), session.lower], upper, work });
  return restore({
    criu: await testCriu(),
    imagesDir: join(session.folder, "images"),
    workDir: join(session.folder, name, "criu"),
    root: ROOT,
    hostMounts: [
      { kind: "mount", fsType: "tmpfs", source: "tmpfs", target: "/run", data: "mode=755,size=1m" },
      { kind: "folder", path: ROOT },
      { kind: "mount", fsType: "overlay", source: "overlay", target: ROOT, data },
    ],
    ...more,
  });
}

/** Runs a restore that must fail, and shows that neither a process nor a folder of it is left. */
async function failsCleanly(call: () => Promise<unknown>): Promise<unknown> {
  const folders = criuFolders();
  const reason = await call().then(
    () => Promise.reject(new Error("the restore did not fail")),
    (error: unknown) => error,
  );
  await until("no process left", () => processesOn(session.folder).length === 0 || undefined);
  await until("no folder left", () => criuFolders().every((name) => folders.includes(name)) || undefined);
  return reason;
}

/** The folders that CRIU makes for its mount points, and that a killed one would leave. */
function criuFolders(): string[] {
  return readdirSync("/tmp").filter((name) => name.startsWith(".criu."));
}

testNeeding(CRIU_NEEDS, "a tree that was ended at its dump goes on where it stood", async () => {
  const { pid, startTime, totalMs } = await restoreIt("one");
  try {
    expect(startTime).toBeGreaterThan(0n);
    expect(totalMs).toBeGreaterThan(0);
    const counted = Number(await session.read("count"));
    await until(
      "a higher count",
      async () =>
        Number(await readFile(join(session.folder, "one", "upper", "count"), "utf8")) > counted || undefined,
    );
  } finally {
    await endProcess(pid);
  }
});

testNeeding(
  CRIU_NEEDS,
  "an open file of this process takes the place of the tree's own, and no other of ours is passed",
  async () => {
    const path = join(session.folder, "handed-over");
    const fd = openSync(path, "a");
    const secret = openSync("/etc/hostname", "r");
    try {
      const { pid } = await restoreIt("one", { inheritFds: [{ key: "log", fd }] });
      try {
        process.kill(pid, "SIGUSR1");
        await until(
          "words in our file",
          async () => (await readFile(path, "utf8")).includes("told") || undefined,
        );
        const open = readdirSync(`/proc/${pid}/fd`).map((one) => readlinkSync(`/proc/${pid}/fd/${one}`));
        expect(open).toContain(path);
        expect(open.filter((target) => target === "/etc/hostname")).toEqual([]);
      } finally {
        await endProcess(pid);
      }
    } finally {
      for (const one of [fd, secret]) closeSync(one);
    }
  },
);

testNeeding(
  CRIU_NEEDS,
  "a missing image gives an error with the log's own lines, and nothing is left",
  async () => {
    const error = await failsCleanly(() => restoreIt("one", { imagesDir: join(session.folder, "layer") }));
    expect(error).toBeInstanceOf(CriuError);
    expect(error).toMatchObject({
      code: "RESTORE_FAILED",
      log: { lines: expect.arrayContaining([expect.stringContaining("Error")]) },
    });
  },
);

testNeeding(
  CRIU_NEEDS,
  "a changed file of a lower layer is explained by name, and nothing is left",
  async () => {
    appendFileSync(join(session.lower, "bin/sh"), "x");
    const error = await failsCleanly(() => restoreIt("one"));
    expect(error).toMatchObject({
      code: "RESTORE_FAILED",
      explanation: { known: true, rule: "layer-changed", process: { name: "sh" } },
      message: expect.stringMatching(/bin\/sh.*sh \(pid 1 inside\)/),
    });
  },
);

testNeeding(CRIU_NEEDS, "a mount that fails gives the mount's own error", async () => {
  const broken = [
    { kind: "mount", fsType: "no-such-filesystem", source: "x", target: session.folder },
  ] as const;
  expect(await failsCleanly(() => restoreIt("one", { hostMounts: broken }))).toMatchObject({
    code: "RUN_FAILED",
    step: "mount",
  });
});

for (const stage of ["setup-namespaces", "post-restore"] as const) {
  testNeeding(
    CRIU_NEEDS,
    `a handler that fails at ${stage} fails the restore with its error, and nothing is left`,
    async () => {
      const reason = new Error("no");
      const onNotify: RestoreOptions["onNotify"] = (notification) =>
        notification.stage === stage ? Promise.reject(reason) : undefined;
      expect(await failsCleanly(() => restoreIt("one", { onNotify }))).toBe(reason);
    },
  );

  testNeeding(CRIU_NEEDS, `an abort at ${stage} takes down what was made so far`, async () => {
    const controller = new AbortController();
    const onNotify: RestoreOptions["onNotify"] = (notification) => {
      if (notification.stage === stage) controller.abort();
    };
    const error = await failsCleanly(() => restoreIt("one", { onNotify, signal: controller.signal }));
    expect(error).toMatchObject({ code: "RPC_ABORTED" });
  });

  testNeeding(CRIU_NEEDS, `criu killed at ${stage} gives a typed error, and nothing is left`, async () => {
    const onNotify: RestoreOptions["onNotify"] = (notification) => {
      if (notification.stage === stage) process.kill(notification.criuPid, "SIGKILL");
    };
    expect(await failsCleanly(() => restoreIt("one", { onNotify }))).toMatchObject({ code: "RPC_CLOSED" });
  });
}
