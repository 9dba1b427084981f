import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { childrenOf } from "../../src/checkpoint/remains.js";
import {
  type Audit,
  auditSettled,
  type Criu,
  CriuError,
  dump,
  openKernelCache,
  restore,
} from "../../src/index.js";
import { copyUpper, endProcess, until } from "../helpers/session.js";
import type { CorpusCase } from "./cases.js";
import { caseProcess, lendHand } from "./hands.js";
import type { Ground } from "./layers.js";
import type { Outcome, Seen } from "./outcome.js";
import { type CaseSession, launchCase } from "./session.js";

/** How long a dump, a restore and a check may each take. The slowest known is an index by a walk: seconds. */
const STEP_MS = 60_000;
const ANSWER_MS = 5_000;

/** What a case is run with. */
export interface CaseRun {
  readonly ground: Ground;
  readonly criu: Criu;
  /** Holds CRIU's own cache of this kernel. */
  readonly home: string;
  /** How many times longer than on a fast machine is waited. */
  readonly patience: number;
}

/** Runs one case: sets it up, audits it, dumps it, restores it, and asks it whether its object is as it was. */
export async function runCase(one: CorpusCase, run: CaseRun): Promise<Seen> {
  const session = await launchCase(run.ground, one);
  try {
    const word = await wordOf(session.upper, "ready", 10_000 * run.patience);
    if (word !== "ready")
      return { audit: undefined, outcome: { kind: "unavailable", detail: word ?? "it never was ready" } };
    const letGo = await lendHand(one, { session, program: run.ground.program });
    try {
      const audit = await auditCase(one, session, run);
      return { audit, outcome: await tryDump(one, session, run) };
    } finally {
      await letGo();
    }
  } finally {
    await session.end();
    await session.remove();
  }
}

function auditCase(
  one: CorpusCase,
  { initPid, externals }: CaseSession,
  { criu, patience }: CaseRun,
): Promise<Audit> {
  return auditSettled({
    initPid,
    externals,
    criuVersion: criu.version,
    settleMs: 1000 * patience,
    ...(one.flags && { flags: one.flags }),
  });
}

async function tryDump(one: CorpusCase, session: CaseSession, run: CaseRun): Promise<Outcome> {
  const layer = join(session.folder, "layer");
  const cache = await openKernelCache(run.criu, { home: run.home });
  try {
    await dump({
      criu: run.criu,
      pid: session.initPid,
      imagesDir: join(session.folder, "images"),
      workDir: join(session.folder, "dump"),
      externals: session.externals,
      start: { mounts: cache.mounts },
      onPostDump: () => copyUpper(session.upper, layer),
      onNotify: ({ stage, criuPid }) => (stage === "pre-dump" ? cache.keep(criuPid) : undefined),
      timeoutMs: STEP_MS * run.patience,
      ...(one.flags && { flags: one.flags }),
    });
  } catch (error) {
    return refusal("dump", error);
  }
  return tryRestore(one, session, run, { layer });
}

async function tryRestore(
  one: CorpusCase,
  session: CaseSession,
  { criu, home, patience }: CaseRun,
  { layer }: { readonly layer: string },
): Promise<Outcome> {
  const { hostMounts, root, upper } = await session.sibling(layer);
  const cache = await openKernelCache(criu, { home });
  let pid: number;
  try {
    ({ pid } = await restore({
      criu,
      imagesDir: join(session.folder, "images"),
      workDir: join(session.folder, "restore"),
      root,
      hostMounts: [...cache.mounts, ...hostMounts],
      externals: session.externals,
      timeoutMs: STEP_MS * patience,
      ...(one.flags && { flags: one.flags }),
    }));
  } catch (error) {
    return refusal("restore", error);
  }
  try {
    if (one.hands === "enter" && childrenOf(pid).length < 2)
      return { kind: "lost", detail: "the process that was entered from outside" };
    return await askSibling(pid, { upper, patience });
  } finally {
    await endProcess(pid);
  }
}

async function askSibling(
  initPid: number,
  { upper, patience }: { readonly upper: string; readonly patience: number },
): Promise<Outcome> {
  process.kill(caseProcess(initPid), "SIGUSR1");
  const answer = await wordOf(upper, "result", ANSWER_MS * patience);
  if (answer === "held") return { kind: "held" };
  return { kind: "lost", detail: answer?.replace(/^lost: /, "") ?? "its process gives no answer" };
}

/** What the case's process wrote, or undefined where nothing came. */
async function wordOf(upper: string, name: string, timeoutMs: number): Promise<string | undefined> {
  const read = () => readFile(join(upper, "corpus", name), "utf8");
  return until(`the word ${name}`, read, timeoutMs).catch(() => undefined);
}

function refusal(phase: "dump" | "restore", error: unknown): Outcome {
  if (!(error instanceof CriuError)) throw error;
  return {
    kind: `${phase} refused`,
    detail: error.explanation?.rule ?? error.log?.lines[0] ?? error.message,
  };
}
