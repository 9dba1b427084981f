import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  buildSessionPlan,
  connectInit,
  type InitClient,
  initBinaryPath,
  launchSession,
  openSessionRoot,
  type PendingSession,
  type ProfileName,
  type SessionPlan,
  type SessionPlanOptions,
  type SessionRoot,
  sys,
} from "../../src/index.js";

export const ID_BASE = 0x4000_0000;
export const PROFILES: readonly ProfileName[] = ["compat", "hardened"];

/** The environment of what tests run inside. */
export const ENV = { PATH: "/usr/bin:/bin" } as const;

const PROGRAMS = [
  "sh",
  "cat",
  "ls",
  "id",
  "sleep",
  "grep",
  "touch",
  "seq",
  "stat",
  "mount",
  "umount",
  "stty",
  "head",
  "ln",
  "mkfifo",
  "rm",
  "perl",
  "mv",
  "chmod",
  "rm",
  "mkdir",
];
/** Copied where this machine has them; a test that uses one names it among its needs. */
const OPTIONAL = ["ssh-keygen"];

/** A folder with a small root of this machine's own programs, and room for one session. */
export interface Stage {
  readonly folder: string;
  readonly options: SessionPlanOptions;
  /** Takes the folder away. */
  remove(): void;
}

export function makeStage(profile: ProfileName): Stage {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "drums-session-"));
  const at = (name: string) => join(folder, name);
  for (const name of ["upper", "work", "scratch", "init/usr/lib/drums", "lower"])
    mkdirSync(at(name), { recursive: true });
  copyFileSync(initBinaryPath(), at("init/usr/lib/drums/drums-init"));
  fillRoot(at("lower"));
  if (profile === "hardened") for (const name of ["upper", "work"]) chownSync(at(name), ID_BASE, ID_BASE);
  return {
    folder,
    options: {
      profile,
      lowers: ["init", "lower"].map((name) => ({ path: at(name), idmap: true })),
      upper: at("upper"),
      work: at("work"),
      scratch: at("scratch"),
      hostname: "stage",
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The programs with the libraries that ldd names, in a merged /usr. */
function fillRoot(root: string): void {
  for (const name of ["usr/bin", "usr/lib", "usr/lib64", "etc", "var/log", "home"])
    mkdirSync(join(root, name), { recursive: true });
  for (const name of ["bin", "lib", "lib64"]) symlinkSync(`usr/${name}`, join(root, name));
  for (const program of [...PROGRAMS, ...OPTIONAL]) {
    const found = spawnSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" });
    if (found.status !== 0 && OPTIONAL.includes(program)) continue;
    copyWithLibraries(realpathSync(found.stdout.trim()), join(root, "usr/bin", program), root);
  }
}

function copyWithLibraries(source: string, target: string, root: string): void {
  copyFileSync(source, target);
  const listed = execFileSync("ldd", [source], { encoding: "utf8" });
  for (const [, library = ""] of listed.matchAll(/(?:=> |^\s*)(\/\S+)/gm)) {
    const inRoot = join(root, library.replace(/^\/lib/, "/usr/lib"));
    mkdirSync(dirname(inRoot), { recursive: true });
    copyFileSync(library, inRoot);
  }
}

/** A running session and the ways to it. */
export interface LiveSession {
  readonly stage: Stage;
  readonly session: PendingSession;
  readonly plan: SessionPlan;
  readonly root: SessionRoot;
  readonly init: InitClient;
}

/** Launches a session, gives it to `body`, and takes everything down whatever happens. `prepare` comes before. */
export async function withSession(
  profile: ProfileName,
  body: (live: LiveSession) => Promise<void>,
  change: Partial<SessionPlanOptions> = {},
  prepare: (stage: Stage) => void = () => {},
): Promise<void> {
  const stage = makeStage(profile);
  try {
    prepare(stage);
    const plan = buildSessionPlan({ ...stage.options, ...change });
    const session = await launchSession(plan.plan);
    await session.go();
    try {
      await withInit(session, (root, init) => body({ stage, session, plan, root, init }));
    } finally {
      await end(session.initPid);
    }
  } finally {
    stage.remove();
  }
}

async function withInit(
  session: PendingSession,
  body: (root: SessionRoot, init: InitClient) => Promise<void>,
): Promise<void> {
  const root = await openSessionRoot({ pid: session.initPid, startTime: session.startTime });
  const init = await connectInit(root);
  try {
    await body(root, init);
  } finally {
    await init.close();
    root.close();
  }
}

async function end(pid: number): Promise<void> {
  const pidfd = sys.pidfdOpen(pid);
  sys.pidfdSendSignal(pidfd, "SIGKILL");
  await sys.pidfdWait(pidfd);
}

/** Runs a shell line inside and gives its outputs as text. */
export async function shell(
  init: InitClient,
  line: string,
  ids: { uid?: number } = {},
): Promise<{ code: number | undefined; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await init.run({ argv: ["sh", "-c", line], env: ENV, ...ids });
  return { code, stdout: stdout.toString(), stderr: stderr.toString() };
}
