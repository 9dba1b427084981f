import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildConfinement, enterSession, errnoName, type InitClient, sys } from "../../src/index.js";
import { ATTEMPTS, type AttemptName } from "./catalogue.js";

const SOURCES = fileURLToPath(new URL("attempts/", import.meta.url));
const MARKER = "as it was\n";

/**
 * How an attempt ended: the errno's name; `nothing` where it was let in and found nothing; `inert` where what it left
 * means nothing outside; `SUCCEEDS`.
 */
export type Outcome = string;
export type Outcomes = Readonly<Record<AttemptName, Outcome>>;

/** Puts the program and what it looks for into a root: a layer of the session. */
export function plantAttempts(root: string): void {
  mkdirSync(join(root, "usr/bin"), { recursive: true });
  const sources = readdirSync(SOURCES)
    .filter((name) => name.endsWith(".c"))
    .map((name) => join(SOURCES, name));
  execFileSync("gcc", ["-static", "-O1", "-std=gnu17", "-o", join(root, "usr/bin/attempts"), ...sources]);
  mkdirSync(join(root, "home/attempts"), { recursive: true });
  chmodSync(join(root, "home/attempts"), 0o1777);
  mkdirSync(join(root, "usr/lib"), { recursive: true });
  writeFileSync(join(root, "usr/lib/marker"), MARKER);
}

/** A session that the attempts are made in. */
export interface Target {
  readonly init: InitClient;
  readonly initPid: number;
  readonly startTime: bigint;
  /** As inside: 0 or a user's. */
  readonly uid: number;
  /** The host's paths of the layer that {@link plantAttempts} filled and of the session's upper. */
  readonly layer: string;
  readonly upper: string;
}

/** Makes every attempt in a session, with something of the host there to be found, and judges what was left. */
export async function makeAttempts(target: Target): Promise<Outcomes> {
  const bait = await layBait();
  const entering = keepEntering(target);
  try {
    const { init, uid } = target;
    const argv = ["attempts", String(bait.pid), String(bait.port), bait.name, bait.word];
    const env = { PATH: "/usr/bin:/bin" };
    const { code, stdout, stderr } = await init.run({ argv, env, uid, gid: uid, timeoutMs: 120_000 });
    if (code !== 0) throw new Error(`attempts ended with ${code}: ${stderr.toString()}`);
    return judged(parse(stdout.toString()), target);
  } finally {
    await entering.stop();
    await bait.close();
  }
}

function parse(text: string): Map<string, string> {
  const lines = text.trimEnd().split("\n");
  return new Map(
    lines.map((line) => {
      const [name = "", ...rest] = line.split(" ");
      return [name, outcomeOf(rest.join(" "))];
    }),
  );
}

function outcomeOf(said: string): Outcome {
  if (!/^\d+$/.test(said)) return said;
  if (said === "0") return "SUCCEEDS";
  const name = errnoName(Number(said));
  return name === "ENODATA" ? "nothing" : name;
}

/** What leaves something in the upper or a lower succeeds only if the host finds it to be what was meant. */
function judged(said: Map<string, string>, target: Target): Outcomes {
  const judges: Partial<Record<AttemptName, () => boolean>> = {
    "setuid-file": () => isSetuidOfHost(join(target.upper, `home/attempts/${target.uid}-setuid`)),
    "capability-file": () =>
      hasCapabilityOnHost(join(target.upper, `home/attempts/${target.uid}-capability`)),
    "write-lower": () => readFileSync(join(target.layer, "usr/lib/marker"), "utf8") !== MARKER,
  };
  const outcomes = Object.keys(ATTEMPTS).map((name) => {
    const outcome = said.get(name) ?? "missing";
    const judge = judges[name as AttemptName];
    return [name, outcome === "SUCCEEDS" && judge && !judge() ? "inert" : outcome];
  });
  return Object.fromEntries(outcomes) as Outcomes;
}

/** Owned by an id that the host's own users have. */
function isSetuidOfHost(path: string): boolean {
  const { uid, mode } = statSync(path);
  return uid < 65_536 && (mode & 0o4000) !== 0;
}

/** Revision 3 binds a capability to the root of a user namespace (capabilities(7)); revision 2 is for all. */
function hasCapabilityOnHost(path: string): boolean {
  const value = sys.lgetxattr(path, "security.capability");
  return value.readUInt32LE(0) >>> 24 !== 3 || value.readUInt32LE(20) === 0;
}

/** Things of the host that must not be reached: a process with a word in its command line, a port, an abstract socket. */
async function layBait() {
  const word = `bait-${randomBytes(8).toString("hex")}`;
  const name = `drums-${word}`;
  const tcp = await listening((server) => server.listen(0, "127.0.0.1"));
  const abstract = await listening((server) => server.listen(`\0${name}`));
  const process = spawn("sh", ["-c", "sleep 1000; :", word], { stdio: "ignore" });
  return {
    word,
    name,
    pid: process.pid ?? 0,
    port: (tcp.address() as AddressInfo).port,
    close: async () => {
      tcp.close();
      abstract.close();
      process.kill("SIGKILL");
      await once(process, "exit");
    },
  };
}

async function listening(start: (server: Server) => void): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  start(server);
  await once(server, "listening");
  return server;
}

/** Programs of the host come into the session one after another while the attempts are made. */
function keepEntering({ initPid, startTime }: Target) {
  let goes = true;
  const entered = (async () => {
    while (goes)
      await enterSession({
        pid: initPid,
        startTime,
        confinement: buildConfinement({}),
        file: "/usr/bin/attempts",
        argv: ["attempts"],
      });
  })();
  return {
    stop: async () => {
      goes = false;
      await entered;
    },
  };
}
