import { closeSync, openSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openSessionRoot, sys } from "@drums/nsexec";
import { childrenOf } from "../../src/checkpoint/remains.js";
import { endProcess, until } from "../helpers/session.js";
import type { CorpusCase, Hands } from "./cases.js";
import type { CaseSession } from "./session.js";

/** Lets go of what a hand did. */
export type Release = () => Promise<void>;

/** Does from the host what a case asks for, once its object stands. */
export async function lendHand(
  { hands }: CorpusCase,
  { session, program }: { readonly session: CaseSession; readonly program: string },
): Promise<Release> {
  const release = await lend(hands, { session, program });
  if (hands?.endsWith("connect"))
    await until("the accepted connection", () => readFile(join(session.upper, "home/accepted")));
  return release;
}

function lend(
  hands: Hands | undefined,
  { session, program }: { readonly session: CaseSession; readonly program: string },
): Promise<Release> {
  const { initPid } = session;
  if (hands === "trace") return runProgram(program, ["trace", String(caseProcess(initPid))], session);
  if (hands === "enter") return runProgram(program, ["enter", String(initPid)], session);
  if (hands === "enter-connect")
    return runProgram(program, ["enter", String(initPid), "/home/socket"], session);
  return hands === "connect" ? connectFromHost(initPid) : Promise.resolve(async () => {});
}

/** The case's process: the one that its session's init started, or PID 1 itself. */
export function caseProcess(initPid: number): number {
  return childrenOf(initPid).find((pid) => commandOf(pid).includes("corpus")) ?? initPid;
}

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8");
}

/** Starts the program on the host and waits for its word that it has done what it was told. */
async function runProgram(program: string, args: readonly string[], session: CaseSession): Promise<Release> {
  const said = join(session.folder, "hand");
  const output = openSync(said, "w");
  const { pid, pidfd } = sys.clone3Exec({
    file: program,
    argv: [program, ...args],
    fds: [{ source: output, target: 1 }],
  });
  closeSync(output);
  await until("the hand's word", async () => (await readFile(said, "utf8")).includes("done") || undefined);
  const children = childrenOf(pid);
  return async () => {
    for (const child of [...children, pid]) await endProcess(child);
    closeSync(pidfd);
  };
}

async function connectFromHost(initPid: number): Promise<Release> {
  const root = await openSessionRoot({ pid: initPid });
  const fd = await root.connect("/home/socket", { type: "stream" });
  root.close();
  return async () => closeSync(fd);
}
