import { createHash } from "node:crypto";
import { type DesktopFacts, encodePng, type Frame } from "@drums/readiness";
import type { RecordInput, RecordName } from "../../src/evidence/records.js";
import type { Outcome } from "../../src/evidence/seal.js";
import { sealAttempt } from "../../src/evidence/seal.js";
import { type Attempt, openEvidence, type RunFacts } from "../../src/evidence/writer.js";
import { docx, odt } from "./documents.js";

/** Values of every record of a run by name, with texts and frames beside them. */
export type RunContent = Map<string, unknown>;

const TOKEN = "0123456789abcdef";
const SUM = "ab".repeat(32);
const SIZE = { width: 400, height: 300 };
const MOUNT_POINT = "/var/lib/drums/roots/r1/mnt";
const PROGRAMS = ["drums-init", "dbus-daemon", "Xvfb", "openbox", "xterm", "bash"];

/** A desktop-like frame: a gradient, a light window, and `marks` dark cells in it where text would be. */
export function desktopFrame(marks: number): Frame {
  const { width, height } = SIZE;
  const pixels = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const inWindow = x >= 40 && x < 340 && y >= 40 && y < 240;
      const isText = inWindow && y >= 60 && y < 68 && x >= 50 && x < 50 + marks * 10 && x % 10 < 6;
      const colour = isText ? [20, 30, 40] : inWindow ? [250, 250, 246] : [20 + (y >> 1), 40 + (y >> 1), 90];
      pixels.set([...colour, 255], (y * width + x) * 4);
    }
  return { width, height, pixels };
}

const FACTS: DesktopFacts = {
  source: "x11",
  screen: SIZE,
  windowManager: { name: "Openbox", checkWindow: 0x200001 },
  openboxTheme: "Clearlooks",
  monitors: [{ name: "screen", primary: true, x: 0, y: 0, ...SIZE }],
  windows: [
    {
      id: 0x600001,
      title: "Terminal",
      instance: "xterm",
      class: "XTerm",
      pid: 5,
      geometry: { x: 40, y: 40, width: 300, height: 200 },
      mapped: true,
      managed: true,
      states: [],
      types: ["_NET_WM_WINDOW_TYPE_NORMAL"],
      focused: true,
    },
  ],
  windowsLeftOut: 0,
  clientList: [0x600001],
  activeWindow: 0x600001,
  pointer: { x: 390, y: 290 },
};

/** A whole run of `siblings` siblings in which everything went well, to be written or spoiled by a test. */
export function goodRun(siblings = 3): RunContent {
  const content: RunContent = new Map();
  const set = <N extends RecordName>(name: N, value: RecordInput<N>) => content.set(name, value);
  machineRecords(set);
  sessionRecords(set);
  content.set("session/mountinfo.txt", SESSION_MOUNTS);
  content.set("session/logs/xserver.log", "");
  for (const name of [
    "screens/before.png",
    "screens/before-2.png",
    "screens/reference.png",
    "original/screen.png",
  ])
    content.set(name, desktopFrame(5));
  content.set("dump.log", "(00.1) Dumping finished successfully\n");
  checkpointRecords(set, siblings);
  for (let sibling = 1; sibling <= siblings; sibling++) siblingRecords(content, set, sibling);
  twinRecords(content, set);
  if (siblings > 0) secondRecords(content, set);
  return content;
}

type Set = <N extends RecordName>(name: N, value: RecordInput<N>) => unknown;

const file = (device: number, inode: number) => ({ device: BigInt(device), inode: BigInt(inode) });

const namespaces = (base: number) =>
  Object.fromEntries(["mnt", "pid", "uts", "ipc", "net"].map((kind, index) => [kind, file(4, base + index)]));

const SESSION_MOUNTS = [
  "700 650 0:60 / / rw,relatime - overlay overlay rw,lowerdir=/a:/b,upperdir=/u,workdir=/w,index=on,nfs_export=on",
  "701 700 0:61 / /proc rw - proc proc rw",
  "",
].join("\n");

function machineRecords(set: Set): void {
  set("host.json", {
    kernel: { release: "6.1.0-host", version: "#1 SMP", machine: "x64" },
    cpus: 2,
    cpuModel: "a processor",
    memoryBytes: 2 ** 32,
    osRelease: { ID: "debian", VERSION_ID: "12" },
    programs: [{ name: "ip", path: "/usr/sbin/ip", version: "6.1" }],
    namespaces: namespaces(100),
    cgroupMode: "hybrid",
    clock: { at: "2026-01-01T00:00:00.000Z", zone: "UTC" },
  });
  set("preflight.json", { items: [{ area: "criu", name: "criu", status: "ok", detail: "4.2.1" }] });
  set("image.json", {
    path: "/images/desk.qcow2",
    sha256: SUM,
    bytes: 1000,
    cached: false,
    format: "qcow2",
    header: { version: 3 },
    table: "gpt",
    partitions: [{ index: 2, start: 1048576, bytes: 900, filesystem: "ext4" }],
    rootPartition: 2,
    needsRecovery: false,
  });
  set("mount.json", {
    way: "fuse-export",
    passedOver: [{ way: "nbd", reason: "the kernel has no nbd module" }],
    mountPoint: MOUNT_POINT,
    device: "/dev/loop3",
    uuid: "11111111-2222-3333-4444-555555555555",
    journalReplayed: false,
    mountinfo: `90 30 7:3 / ${MOUNT_POINT} ro,relatime - ext4 /dev/loop3 ro,norecovery\n`,
  });
  set("layers.json", {
    rootPrograms: [{ path: "/usr/bin/Xvfb", found: false }],
    layers: [
      {
        name: "xvfb",
        path: "/var/lib/drums/layers/xvfb",
        digest: SUM,
        files: 9,
        brings: ["/usr/bin/Xvfb"],
        debs: [{ package: "xvfb", version: "2:21.1.7", expectedSha256: SUM, sha256: SUM }],
      },
    ],
  });
}

function sessionRecords(set: Set): void {
  set("session/plan.json", { plan: { hostname: "drums" } });
  set("session/report.json", {
    pid: 1,
    cgroup: "12:pids:/\n0::/drums/s1\n",
    mountinfo: SESSION_MOUNTS,
    namespaces: namespaces(200),
    uidMap: "0 100000 65536",
  });
  set("session/handshake.json", {
    initPid: 4000,
    startTime: 5000n,
    namespaces: namespaces(200),
    group: {
      path: "/sys/fs/cgroup/unified/drums/s1",
      relative: "/drums/s1",
      procs: [4000],
      limits: { enforced: false, reason: "no controllers", readBack: {} },
    },
    checks: [{ name: "root is an overlay", ok: true, detail: "overlay" }],
    reportedMs: 0.1,
    goMs: 0.2,
  });
  set("session/overlay.json", { mountPoint: "/", index: true, nfsExport: true, fellBack: [] });
  set("bus.json", busRecord(300));
  set("readiness.json", {
    verdict: { name: "ready", ready: true, reasons: ["all checks hold"] },
    rules: { name: "default", window: { class: "XTerm", focused: true } },
    polls: 4,
    waitedMs: 300,
  });
  set("facts.json", { facts: FACTS });
  set("reference/facts.json", { facts: FACTS });
  set("application.json", {
    name: "xterm",
    argv: null,
    process: "xterm",
    rules: { name: "default", window: { class: "XTerm", focused: true } },
    openedMs: null,
    place: "/home/user/typed.txt",
    content: null,
    remembered: "",
  });
  set("token.json", { argv: ["/bin/sh"], exitCode: 0, value: TOKEN });
  set("identity.json", identityRecord("drums", 0));
  set("marker.json", markerRecord());
  set("processes.json", processesRecord());
  set("parity.json", {
    imageKernels: ["6.1.0-image"],
    imageDisplayManager: null,
    imageXServers: ["/usr/bin/Xorg"],
    imageBusServices: 7,
    imageZone: "UTC",
    imageLockers: [],
    sessionLockEnabled: null,
    imageInit: "systemd",
    imageSecurityModules: ["apparmor"],
    hostSecurityModules: ["capability", "landlock"],
    clockOffsetSeconds: 0.01,
  });
}

function checkpointRecords(set: Set, siblings: number): void {
  const original = { pid: 4000, startTime: 5000n, seenStartTime: 5000n };
  set("audit.json", { verdict: "pass", durationMs: 3, findings: [] });
  set("dump.json", {
    criu: { version: "4.2.1", source: "bundle", digest: SUM },
    options: { leaveRunning: true },
    startedMs: 100,
    endedMs: 200,
    report: { frozenMs: 80, totalMs: 100, bytes: 2 ** 25 },
    upper: { bytes: 4096, reflink: false },
    original,
  });
  const pids = Array.from({ length: siblings }, (_, index) => index + 1);
  set("together.json", {
    observedMs: 900,
    original,
    siblings: pids.map((sibling) => {
      const startTime = BigInt(6000 + sibling);
      return { sibling, pid: 5000 + sibling, startTime, seenStartTime: startTime };
    }),
  });
  set("original/after.json", {
    init: original,
    token: TOKEN,
    marker: "marked\n",
    typedPath: "/home/user/typed.txt",
    typedContent: null,
  });
  set("teardown.json", {
    mounts: [],
    loops: [],
    processes: [],
    daemons: [],
    sockets: [],
    cgroups: [],
    folders: [],
    hostSocket: file(20, 30),
  });
}

function siblingRecords(content: RunContent, set: Set, sibling: number): void {
  const folder = `siblings/${sibling}` as const;
  content.set(`${folder}/restore.log`, "");
  set(`${folder}/restore.json`, {
    pid: 5000 + sibling,
    startTime: BigInt(6000 + sibling),
    startedMs: 300 + sibling,
    endedMs: 400 + sibling,
    criu: "4.2.1",
  });
  set(`${folder}/token.json`, { argv: ["/bin/cat"], exitCode: 0, value: TOKEN });
  set(`${folder}/identity.json`, identityRecord(`openbox-${sibling}`, 1));
  set(`${folder}/marker.json`, markerRecord());
  set(`${folder}/processes.json`, processesRecord());
  set(`${folder}/facts.json`, { facts: FACTS });
  set(`${folder}/bus.json`, busRecord(300 + sibling));
  set(`${folder}/namespaces.json`, { namespaces: namespaces(1000 * sibling) });
  set(`${folder}/typed.json`, {
    sentence: `Sibling ${sibling} was here`,
    path: "/home/user/typed.txt",
    content: `Sibling ${sibling} was here\n`,
  });
  content.set(`${folder}/screen.png`, desktopFrame(5));
  content.set(`${folder}/screen-typed.png`, desktopFrame(5 + sibling));
}

/** Makes a good run one of GNOME with Writer: the Shell's word, locks and documents. */
export function withWriter(content: RunContent): RunContent {
  const set = <N extends RecordName>(name: N, value: RecordInput<N>) => content.set(name, value);
  const siblings = restoredIn(content);
  set("reference/shell.json", SHELL);
  set("locks.json", locksRecord(40));
  for (let sibling = 1; sibling <= siblings; sibling++) {
    set(`siblings/${sibling}/shell.json`, SHELL);
    set(`siblings/${sibling}/locks.json`, locksRecord(40 + sibling));
    documentRecords(content, `siblings/${sibling}`, `Sibling ${sibling} was here`);
  }
  documentRecords(content, "second", "Sibling 1 was here\nIts own sibling was here");
  return content;
}

const SHELL: RecordInput<"shell.json"> = {
  bus: { connected: true, shellOwned: true, overviewActive: false, monitors: 1, mute: [] },
};

function locksRecord(inode: number): RecordInput<"locks.json"> {
  const procLocks = `1: OFDLCK ADVISORY  READ -1 fe:00:9 100 100\n2: POSIX  ADVISORY  WRITE 5 00:29:${inode} 0 EOF\n`;
  const attempt = { argv: ["/usr/bin/python3"], exitCode: 0, stdout: "EAGAIN\n", control: "granted\n" };
  return { path: "/home/user/draft.odt", inode: String(inode), procLocks, attempt };
}

/** Both documents of a session with a text in them, in the attempt and in its record. */
export function documentRecords(
  content: RunContent,
  folder: `siblings/${number}` | "second",
  text: string,
): void {
  const lines = text.split("\n");
  const files = {
    odt: odt(lines.map((line) => `<text:p>${line}</text:p>`).join("")),
    docx: docx(lines.map((line) => `<w:p><w:r><w:t>${line}</w:t></w:r></w:p>`).join("")),
  };
  const documents = Object.entries(files).map(([format, bytes]) => ({
    format: format as keyof typeof files,
    path: `/home/user/typed.${format}`,
    bytes: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
  }));
  for (const [format, bytes] of Object.entries(files)) content.set(`${folder}/document.${format}`, bytes);
  content.set(`${folder}/documents.json`, { documents });
}

/** Another session of the image, seen beside the original. */
function twinRecords(content: RunContent, set: Set): void {
  const original = { pid: 4000, startTime: 5000n, seenStartTime: 5000n };
  const twin = { pid: 4100, startTime: 5100n, seenStartTime: 5100n };
  set("twin/together.json", { observedMs: 60, original, twin });
  set("twin/facts.json", { facts: FACTS });
  set("twin/bus.json", busRecord(800));
  set("twin/namespaces.json", { namespaces: namespaces(8000) });
  content.set("twin/screen.png", desktopFrame(5));
}

/** The first sibling's own sibling. */
function secondRecords(content: RunContent, set: Set): void {
  set("second/audit.json", { verdict: "pass", durationMs: 3, findings: [] });
  set("second/dump.json", {
    criu: { version: "4.2.1", source: "bundle", digest: SUM },
    options: { leaveRunning: true },
    startedMs: 1000,
    endedMs: 1100,
    report: { frozenMs: 80, totalMs: 100, bytes: 2 ** 25 },
    upper: { bytes: 4096, reflink: false },
    original: { pid: 5001, startTime: 6001n, seenStartTime: 6001n },
  });
  set("second/token.json", { argv: ["/bin/cat"], exitCode: 0, value: TOKEN });
  set("second/facts.json", { facts: FACTS });
  const sentence = "Sibling 1 was here\nIts own sibling was here";
  set("second/typed.json", { sentence, path: "/home/user/typed.txt", content: `${sentence}\n` });
  content.set("second/screen.png", desktopFrame(6));
  content.set("second/screen-typed.png", desktopFrame(9));
}

function busRecord(device: number): RecordInput<"bus.json"> {
  const host = file(20, 30);
  return {
    id: SUM.slice(0, 32),
    names: ["org.freedesktop.DBus", ":1.1"],
    activatable: ["org.freedesktop.DBus"],
    missingName: { error: "org.freedesktop.DBus.Error.ServiceUnknown", ms: 0.4 },
    // The same inode on other devices: an inode alone is no identity.
    socket: file(device, 7),
    hostSocket: { path: "/run/dbus/system_bus_socket", before: host, after: host },
  };
}

function identityRecord(hostname: string, generation: number): RecordInput<"identity.json"> {
  const token = createHash("sha256").update(hostname).digest("hex").slice(0, 32);
  return { argv: ["/bin/cat"], exitCode: 0, hostname, generation: String(generation), token };
}

function markerRecord(): RecordInput<"marker.json"> {
  const text = "marked\n";
  const sha256 = createHash("sha256").update(text).digest("hex");
  return { argv: ["/bin/cat"], exitCode: 0, path: "/home/user/marker.txt", content: text, sha256 };
}

function processesRecord(): RecordInput<"processes.json"> {
  const processes = PROGRAMS.map((name, index) => ({ pid: index + 1, name, cmdline: [name], uid: 1000 }));
  return { observedMs: 50, processes };
}

/** Steps of a good run, in order. */
const STEPS = [
  "host",
  "preflight",
  "image",
  "mount",
  "layers",
  "boot",
  "bus",
  "readiness",
  "token",
  "dump",
  "restore",
  "original",
  "parity",
  "teardown",
];

export interface WriteOptions {
  /** The last step that is run; it fails with this error. */
  readonly failing?: { readonly step: string; readonly error: Error };
  /** How many siblings were asked for. Default: as many as were restored. */
  readonly siblings?: number;
  /** What kind of run it is. Default that of `goodRun`. */
  readonly kind?: Pick<RunFacts, "rules" | "task">;
}

/** Writes a run's content as an attempt below `dir`, with its steps, and seals it. */
export async function writeRun(
  dir: string,
  content: RunContent,
  {
    failing,
    siblings = restoredIn(content),
    kind = { rules: "default", task: "terminal" },
  }: WriteOptions = {},
): Promise<{ attempt: Attempt; outcome: Outcome }> {
  const facts = {
    drums: "0.1.0",
    image: "/images/desk.qcow2",
    desktop: "openbox",
    ...kind,
    siblings,
    profile: "hardened",
  } as const;
  const attempt = await (await openEvidence(dir, { ...facts, expectedSha256: SUM })).beginAttempt();
  for (const step of STEPS) {
    if (step === failing?.step) {
      await attempt.step(step, () => Promise.reject(failing.error)).catch(() => {});
      break;
    }
    await attempt.step(step, () => {});
  }
  for (const [name, value] of content) {
    if (typeof value === "string") await attempt.text(name, value);
    else if (value instanceof Uint8Array) await attempt.file(name, value);
    else if (name.endsWith(".png")) await attempt.file(name, await encodePng(value as Frame));
    else await attempt.json(name, { version: 1, ...(value as object) });
  }
  return { attempt, outcome: await sealAttempt(attempt) };
}

function restoredIn(content: RunContent): number {
  return [...content.keys()].filter((name) => /^siblings\/\d+\/restore.json$/.test(name)).length;
}
