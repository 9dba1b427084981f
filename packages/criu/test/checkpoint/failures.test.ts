import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { afterEach, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { criu_cg_mode, criu_network_lock_method } from "../../src/gen/rpc_pb.js";
import {
  type Criu,
  CriuError,
  type DumpOptions,
  dump,
  type RestoreOptions,
  restore,
} from "../../src/index.js";
import { lacksResourceCapability, readCapEff } from "../../src/install/shim.js";
import type { CriuOptions } from "../../src/rpc/messages.js";
import { CRIU_NEEDS, testCriu } from "../helpers/criu.js";
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
afterEach(() => session.end());

async function launch(script = COUNT, more?: string): Promise<void> {
  session = await launchTiny(script, more);
  await counts();
}

function counts(): Promise<unknown> {
  return until("the count", async () => Number(await session.read("count")) > 2 || undefined);
}

async function dumpIt(more: Partial<DumpOptions> = {}) {
  return dump({
    criu: await testCriu(),
    pid: session.pid,
    imagesDir: join(session.folder, "images"),
    onPostDump: () => copyUpper(session.upper, join(session.folder, "layer")),
    ...more,
  });
}

/** On the /run of criu's own mount namespace. */
const ROOT = "/run/drums-test-root";

async function restoreIt(more: Partial<RestoreOptions> = {}) {
  const [upper, work] = ["upper", "work"].map((part) => join(session.folder, "sibling", part)) as [
    string,
    string,
  ];
  for (const folder of [upper, work]) mkdirSync(folder, { recursive: true });
  const data = overlayData({ lowers: [join(session.folder, "layer"), session.lower], upper, work });
  return restore({
    criu: await testCriu(),
    imagesDir: join(session.folder, "images"),
    workDir: join(session.folder, "sibling", "criu"),
    root: ROOT,
    hostMounts: [
      { kind: "mount", fsType: "tmpfs", source: "tmpfs", target: "/run", data: "mode=755,size=1m" },
      { kind: "folder", path: ROOT },
      { kind: "mount", fsType: "overlay", source: "overlay", target: ROOT, data },
    ],
    ...more,
  });
}

/** What explains a call that must fail. */
async function explained(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => Promise.reject(new Error("it did not fail")),
    (reason: unknown) => reason,
  );
  if (!(error instanceof CriuError)) throw error;
  expect(error.log?.lines).not.toEqual([]);
  return error.explanation?.rule ?? error.message;
}

/** A folder that is a PATH with just these programs. */
async function pathWith(...programs: string[]): Promise<string> {
  const folder = join(session.folder, "path");
  mkdirSync(folder);
  for (const program of programs) {
    const { stdout } = await execa("sh", ["-c", `command -v ${program}`]);
    symlinkSync(stdout, join(folder, program));
  }
  return folder;
}

/** A process of another user waits beside the counting. */
const AS_USER = "#include <unistd.h>\nint main(void) { setuid(1000); for (;;) pause(); }";

testNeeding(
  CRIU_NEEDS,
  "without the shim another user's process is refused where CAP_SYS_RESOURCE is missing",
  async () => {
    session = await launchTiny(`/as-user & ${COUNT}`, "cp PROGRAM ROOT/as-user", {
      programs: { PROGRAM: AS_USER },
    });
    await counts();
    const { shim: _, ...plain } = await testCriu();
    if (lacksResourceCapability(await readCapEff()))
      expect(await explained(dumpIt({ criu: plain }))).toBe("rlimit-refused");
    await dumpIt();
  },
);

/** Holds a descriptor whose number is high. */
const HIGH = "#include <unistd.h>\nint main(void) { dup2(1, 400); for (;;) pause(); }";

testNeeding(
  [...CRIU_NEEDS, "program:prlimit"],
  "a criu that may open fewer files than the session uses cannot restore",
  async () => {
    session = await launchTiny(`/high & ${COUNT}`, "cp PROGRAM ROOT/high", { programs: { PROGRAM: HIGH } });
    await counts();
    await dumpIt();
    const { file, argv, shim: _, ...rest } = await testCriu();
    const limited: Criu = { ...rest, file: "/usr/bin/prlimit", argv: ["--nofile=256:256", file, ...argv] };
    expect(await explained(restoreIt({ criu: limited }))).toBe("descriptor-limit");
  },
);

testNeeding(CRIU_NEEDS, "CRIU's own lock of the net wants iptables", async () => {
  await launch();
  const options = { networkLock: criu_network_lock_method.IPTABLES };
  const env = { PATH: await pathWith("ip", "tar", "gzip", "cat") };
  expect(await explained(dumpIt({ options, start: { env }, flags: { emptyNet: false } }))).toBe(
    "network-lock",
  );
});

testNeeding(CRIU_NEEDS, "a dump of a tmpfs without tar says which program is missing", async () => {
  await launch(`echo x > /tmp/file; ${COUNT}`);
  const env = { PATH: await pathWith("ip", "gzip") };
  expect(await explained(dumpIt({ start: { env } }))).toBe("missing-program");
});

testNeeding(CRIU_NEEDS, "a restore of a net without ip says which program is missing", async () => {
  await launch();
  const flags = { emptyNet: false };
  await dumpIt({ flags });
  const before = process.env.PATH;
  process.env.PATH = await pathWith("tar", "gzip");
  try {
    expect(await explained(restoreIt({ flags }))).toBe("missing-program");
  } finally {
    process.env.PATH = before;
  }
});

testNeeding(
  CRIU_NEEDS,
  "a cgroup namespace of the session's own stands in the way where CRIU manages cgroups",
  async () => {
    await launch(`exec unshare --cgroup /bin/sh -c '${COUNT}'`);
    const options = { manageCgroups: true, manageCgroupsMode: criu_cg_mode.DEFAULT };
    await dumpIt({ options });
    expect(await explained(restoreIt({ options }))).toBe("cgroup-set");
  },
);

testNeeding(
  CRIU_NEEDS,
  "images of a newer CRIU are not read by an older one, which says little and never nothing",
  async () => {
    await launch();
    await dumpIt();
    const older = restoreIt({ criu: await testCriu("4.1.1") });
    await expect(older).rejects.toMatchObject({
      code: "RESTORE_FAILED",
      log: { lines: expect.arrayContaining([expect.stringContaining("Restoring FAILED")]) },
    });
  },
);

testNeeding(CRIU_NEEDS, "images of an older CRIU are read by the newer ones", async () => {
  await launch();
  await dumpIt({ criu: await testCriu("4.1.1") });
  const { pid } = await restoreIt();
  await endProcess(pid);
});

testNeeding(
  CRIU_NEEDS,
  "a tree without a pid namespace of its own is not restored beside itself",
  async () => {
    const script = "while :; do n=$((n+1)); echo $n > /count; sleep 0.05; done";
    session = await launchTiny(script, "", { namespaces: ["mnt", "uts", "ipc", "net"] });
    await counts();
    await dumpIt();
    expect(await explained(restoreIt())).toBe("pid-taken");
  },
);

/** Takes away the root that this package always gives. */
const NO_ROOT = { root: undefined } as unknown as CriuOptions;

testNeeding(CRIU_NEEDS, "a restore without a root says so", async () => {
  await launch();
  await dumpIt();
  expect(await explained(restoreIt({ options: NO_ROOT }))).toBe("root-missing");
});

testNeeding(CRIU_NEEDS, "a veth whose other end is outside is not restored", async () => {
  const outside = await launchTiny();
  try {
    await launch();
    const ends = ["drums0", "type", "veth", "peer", "name", "eth0", "netns", String(session.pid)];
    await execa("nsenter", ["--net", "--target", String(outside.pid), "ip", "link", "add", ...ends]);
    const flags = { emptyNet: false };
    await dumpIt({ flags });
    expect(await explained(restoreIt({ flags }))).toBe("veth");
  } finally {
    await outside.end();
  }
});
