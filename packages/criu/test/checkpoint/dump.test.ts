import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { afterEach, beforeEach, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { auditSession, CriuError, type DumpOptions, dump } from "../../src/index.js";
import { CRIU_NEEDS, testCriu } from "../helpers/criu.js";
import { COUNT, launchTiny, type TinySession, until } from "../helpers/session.js";

let session: TinySession;
beforeEach(async () => {
  session = await launchTiny();
  await counts();
});
afterEach(() => session.end());

/** The session's own count goes up: it lives. */
async function counts(): Promise<void> {
  const read = async () => Number(await session.read("count")) || 0;
  const before = await read().catch(() => 0);
  await until("a higher count", async () => (await read()) > before || undefined);
}

async function dumpIt(more: Partial<DumpOptions> = {}) {
  return dump({
    criu: await testCriu(),
    pid: session.pid,
    imagesDir: join(session.folder, "images"),
    workDir: join(session.folder, "work-of-criu"),
    ...more,
  });
}

function failed(call: Promise<unknown>): Promise<CriuError> {
  return call.then(
    () => Promise.reject(new Error("the dump did not fail")),
    (error: unknown) => (error instanceof CriuError ? error : Promise.reject(error)),
  );
}

const images = () => readdirSync(join(session.folder, "images"));

testNeeding(CRIU_NEEDS, "a dump leaves the session running and says how long it stood still", async () => {
  const report = await dumpIt();
  expect(report.stats?.pagesWritten).toBeGreaterThan(10);
  expect(report.frozenMs).toBeLessThan(report.totalMs);
  expect(images()).toContain("inventory.img");
  await counts();
});

testNeeding(
  CRIU_NEEDS,
  "at post-dump every task stands still, so that files and memory are one moment",
  async () => {
    let states: string[] = [];
    const stages: string[] = [];
    await dumpIt({
      onPostDump: async () => {
        const first = await session.read("count");
        await new Promise((resolve) => setTimeout(resolve, 200));
        states = [first, await session.read("count")];
      },
      onNotify: ({ stage }) => {
        stages.push(stage);
      },
    });
    expect(states[0]).toBe(states[1]);
    expect(stages.indexOf("pre-dump")).toBeLessThan(stages.indexOf("post-dump"));
    await counts();
  },
);

testNeeding(
  CRIU_NEEDS,
  "a failure at post-dump fails the dump with that very error, and the session lives on",
  async () => {
    const reason = new Error("the upper could not be copied");
    await expect(dumpIt({ onPostDump: () => Promise.reject(reason) })).rejects.toBe(reason);
    expect(images()).toEqual([]);
    expect(readFileSync(join(session.folder, "work-of-criu", "dump.log"), "utf8")).not.toBe("");
    await counts();
    await dumpIt();
  },
);

for (const stage of ["pre-dump", "network-lock", "post-dump"] as const)
  testNeeding(
    CRIU_NEEDS,
    `criu killed at ${stage} gives a typed error, and the session lives on and is dumped again`,
    async () => {
      const error = await failed(
        dumpIt({
          onNotify: (notification) => {
            if (notification.stage === stage) process.kill(notification.criuPid, "SIGKILL");
          },
        }),
      );
      expect(error).toMatchObject({
        code: "RPC_CLOSED",
        facts: { how: "SIGKILL" },
        log: { file: expect.stringContaining("dump.log") },
      });
      expect(images()).toEqual([]);
      await counts();
      await dumpIt();
      await counts();
    },
  );

testNeeding(CRIU_NEEDS, "an abort ends criu at once, and the session lives on", async () => {
  const controller = new AbortController();
  let told: AbortSignal | undefined;
  const error = await failed(
    dumpIt({
      signal: controller.signal,
      onPostDump: ({ signal }) => {
        told = signal;
        controller.abort();
        return new Promise(() => {});
      },
    }),
  );
  expect(error.code).toBe("RPC_ABORTED");
  expect(told?.aborted).toBe(true);
  await counts();
});

testNeeding(
  CRIU_NEEDS,
  "a dump that does not end within its time is ended, and the session lives on",
  async () => {
    const error = await failed(dumpIt({ timeoutMs: 500, onPostDump: () => new Promise(() => {}) }));
    expect(error).toMatchObject({ code: "RPC_TIMEOUT", facts: { timeoutMs: 500 } });
    await counts();
  },
);

testNeeding(
  CRIU_NEEDS,
  "a full disk is named as such, its images are removed, and the session lives on",
  async () => {
    const folder = join(session.folder, "images");
    mkdirSync(folder);
    sys.mount(folder, { source: "small", fsType: "tmpfs", data: "size=64k" });
    try {
      const error = await failed(dumpIt());
      expect(error.code).toBe("DISK_FULL");
      expect(error.explanation).toMatchObject({ known: true, rule: "disk-full" });
      expect(images()).toEqual([]);
    } finally {
      sys.umount2(folder);
    }
    await counts();
    await dumpIt();
  },
);

testNeeding(CRIU_NEEDS, "a process that is not there is refused before criu is started", async () => {
  expect(await failed(dumpIt({ pid: 2 ** 22 - 1 }))).toMatchObject({
    code: "DUMP_FAILED",
    facts: { pid: 2 ** 22 - 1 },
  });
});

/** Objects that CRIU refuses: how each is made, what the audit says of it before, and what explains the dump after. */
const REFUSED = [
  {
    what: "a descriptor of the host",
    more: "exec 7</etc/hostname",
    rule: "descriptor-foreign-mount",
    explained: "foreign-mount",
    process: { name: "sh", innerPid: 1, fd: 7 },
  },
  {
    what: "a ramfs",
    more: "mkdir ROOT/r; mount -t ramfs ramfs ROOT/r",
    rule: "mount-unsupported",
    explained: "mount-unsupported",
  },
  {
    what: "a host folder bound in",
    more: "mkdir ROOT/b; mount --bind /etc ROOT/b",
    rule: "mount-external",
    explained: "mount-foreign-root",
  },
  {
    what: "a namespace of its own",
    script: `unshare --uts /bin/sh -c ': > /apart; exec sleep 1000' & until [ -e /apart ]; do sleep 0.02; done; ${COUNT}`,
    rule: "namespace-nested",
    explained: "nested-namespace",
    process: { name: "sleep" },
  },
  {
    what: "a large file without a name",
    script: `exec 8>/ghost; cat /bin/cat >&8; rm /ghost; ${COUNT}`,
    rule: "ghost-size",
    explained: "ghost-limit",
    flags: { ghostLimitBytes: 1024 },
    process: { name: "sh", innerPid: 1, fd: 8 },
  },
] as const;

for (const { what, rule, explained, ...made } of REFUSED)
  testNeeding(CRIU_NEEDS, `what the audit refuses CRIU refuses too, and both say why: ${what}`, async () => {
    await session.end();
    session = await launchTiny(
      "script" in made ? made.script : undefined,
      "more" in made ? made.more : undefined,
    );
    await counts();
    const flags = "flags" in made ? made.flags : {};
    const audit = await auditSession({ initPid: session.pid, flags });
    expect(audit.verdict).toBe("refuse");
    expect(audit.findings.map((finding) => finding.rule)).toContain(rule);
    const error = await failed(dumpIt({ flags }));
    expect(error).toMatchObject({ code: "DUMP_FAILED", explanation: { known: true, rule: explained } });
    expect(error.log?.lines.length).toBeGreaterThan(0);
    if ("process" in made) {
      expect(error.explanation?.process).toMatchObject(made.process);
      expect(error.message).toContain(made.process.name);
    }
    await counts();
  });

for (const { what, script, flags, rule } of [
  {
    what: "a lock",
    script: "exec 8>/lock; flock 8",
    flags: { fileLocks: false },
    rule: "file-locks",
  },
  {
    what: "a name that is gone while another remains",
    script: "echo x > /one; exec 8</one; ln /one /two; rm /one",
    flags: { linkRemap: false },
    rule: "link-remap",
  },
] as const)
  testNeeding(CRIU_NEEDS, `${what} is kept by the default flags and explained without them`, async () => {
    await session.end();
    session = await launchTiny(`${script}; ${COUNT}`);
    await counts();
    expect(await failed(dumpIt({ flags }))).toMatchObject({ explanation: { known: true, rule } });
    await counts();
    await dumpIt();
  });

testNeeding(
  CRIU_NEEDS,
  "a connection that was written to before it was accepted fails the dump, which is tried again and counted",
  async () => {
    await session.end();
    session = await launchTiny(`/in-flight & ${COUNT}`, "cp PROGRAM ROOT/in-flight", {
      programs: { PROGRAM: IN_FLIGHT },
    });
    await counts();
    const server = await until("the server", () => pidOf("in-flight"));
    const told: string[] = [];
    const report = await dumpIt({
      onRetry: ({ rule, process: named }) => {
        told.push(`${rule} of ${named?.name}`);
        process.kill(server, "SIGUSR1");
      },
    });
    expect(told[0]).toBe("unix-in-flight of in-flight");
    expect(report.retries.map(({ rule }) => rule)).toEqual(told.map(() => "unix-in-flight"));
    expect(images()).toContain("inventory.img");

    const error = await failed(
      (async () => {
        process.kill(server, "SIGUSR2");
        await until("another connection", () => pidOf("in-flight"));
        return dumpIt({ retries: 0 });
      })(),
    );
    expect(error).toMatchObject({ code: "DUMP_FAILED", explanation: { rule: "unix-in-flight" } });
  },
);

/** Connects to itself and writes; accepts at SIGUSR1, connects and writes again at SIGUSR2. */
const IN_FLIGHT = `
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "/server"};
  int server = socket(AF_UNIX, SOCK_STREAM, 0), number = SIGUSR2;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, 0);
  bind(server, (struct sockaddr *)&name, sizeof name);
  listen(server, 8);
  do {
    if (number == SIGUSR1) accept(server, 0, 0);
    if (number == SIGUSR2) {
      int client = socket(AF_UNIX, SOCK_STREAM, 0);
      connect(client, (struct sockaddr *)&name, sizeof name);
      write(client, "x", 1);
    }
  } while (sigwait(&set, &number) == 0);
}
`;

/** Host pid of a program of the session. */
function pidOf(name: string): number | undefined {
  const children = readFileSync(`/proc/${session.pid}/task/${session.pid}/children`, "utf8");
  return children
    .split(" ")
    .filter(Boolean)
    .map(Number)
    .find((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").trim() === name);
}

testNeeding(
  CRIU_NEEDS,
  "a large file without a name is kept with the ghost limit that is the default",
  async () => {
    await session.end();
    session = await launchTiny(`exec 8>/ghost; cat /bin/cat >&8; rm /ghost; ${COUNT}`);
    await counts();
    expect((await auditSession({ initPid: session.pid })).findings).toEqual([]);
    await dumpIt();
    expect(images().some((name) => name.startsWith("ghost-file"))).toBe(true);
  },
);
