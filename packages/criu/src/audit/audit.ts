import type { MountInfo } from "@drums/nsexec/proc";
import { type CheckpointFlags, DEFAULT_FLAGS, type ExternalMount } from "../checkpoint/options.js";
import { CriuError } from "../errors.js";
import { deletedFiles } from "./deleted.js";
import { checkDescriptors } from "./descriptors.js";
import { checkFieldRecord } from "./field-record.js";
import { checkMemory } from "./memory.js";
import { checkMounts, checkQueues, checkTmpfs } from "./mounts.js";
import { type Finding, forGround } from "./rules.js";
import { readMounts, type Snapshot, takeSnapshot } from "./snapshot.js";
import { checkSockets } from "./sockets.js";
import { checkTasks } from "./tasks.js";
import { checkTerminals } from "./terminals.js";

/** Options of {@link auditSession}. */
export interface AuditOptions {
  /** Host pid of the session's init. */
  readonly initPid: number;
  /** Mounts that the dump will name as externals. Default: none. */
  readonly externals?: readonly Pick<ExternalMount, "mountPoint">[];
  /** Look at the mount table alone: before anything of the desktop has started. Default false. */
  readonly onlyMountTable?: boolean;
  /** The flags that the dump will have, where they differ from {@link DEFAULT_FLAGS}. */
  readonly flags?: Partial<CheckpointFlags>;
  /** The CRIU that will dump: rules differ between versions. Default {@link DEFAULT_VERSION}. */
  readonly criuVersion?: string;
  /** Release of the kernel, such as `6.18.4`: rules differ between kernels. Default: this machine's. */
  readonly kernel?: string;
  /** `field-record` refuses eleven kinds of filesystem beside what CRIU does: {@link FIELD_RECORD_KINDS}. */
  readonly profile?: "criu" | "field-record";
  /** Interfaces beside lo that a restore makes anew, such as a NAT's. Default: none. */
  readonly remadeInterfaces?: readonly string[];
  /** Default "/proc". */
  readonly proc?: string;
}

/** What was looked at. */
export interface AuditFacts {
  readonly processes: readonly { readonly pid: number; readonly innerPid?: number; readonly name: string }[];
  readonly mounts: number;
  readonly descriptors: number;
  /** Data in the session's tmpfs mounts. */
  readonly tmpfsBytes: number;
}

/** An audit's outcome. */
export interface Audit {
  readonly findings: readonly Finding[];
  /** "refuse" where any finding says that CRIU refuses. */
  readonly verdict: "pass" | "refuse";
  readonly durationMs: number;
  readonly facts: AuditFacts;
}

/**
 * Says from /proc alone what a dump of a session would fail at, or lose. Some milliseconds for ten processes.
 * It is a look at a running system: what changes after it is CRIU's to find.
 * @throws {CriuError} `DUMP_FAILED` where init has ended
 */
export async function auditSession(options: AuditOptions): Promise<Audit> {
  const started = performance.now();
  const { findings: all, facts } = options.onlyMountTable ? auditMountTable(options) : auditAll(options);
  const findings = forGround(all, options);
  const refused = findings.some(({ severity }) => severity === "refuses");
  return { findings, verdict: refused ? "refuse" : "pass", durationMs: performance.now() - started, facts };
}

/** @throws {CriuError} `AUDIT_REFUSED` naming each finding that refuses */
export function assertPassed(audit: Audit): void {
  if (audit.verdict === "pass") return;
  const refusals = audit.findings.filter(({ severity }) => severity === "refuses");
  const lines = refusals.map(({ title, object, process }) => {
    const who = process === undefined ? "" : ` (${process.name}, pid ${process.innerPid ?? process.pid})`;
    return `${title}: ${object}${who}`;
  });
  throw new CriuError("AUDIT_REFUSED", `The session cannot be dumped: ${lines.join("; ")}`, {
    hint: [...new Set(refusals.map(({ remedy }) => remedy))].join("; "),
    facts: { findings: refusals.length },
  });
}

function auditMountTable(options: AuditOptions): Pick<Audit, "findings" | "facts"> {
  const mounts = readMounts(options.initPid, options);
  if (mounts.length === 0) throw initGone(options.initPid);
  return {
    findings: mountFindings(mounts, options),
    facts: { processes: [], mounts: mounts.length, descriptors: 0, tmpfsBytes: 0 },
  };
}

function mountFindings(mounts: readonly MountInfo[], options: AuditOptions): Finding[] {
  return [
    ...checkMounts(mounts, { externals: externalsOf(options) }),
    ...(options.profile === "field-record" ? checkFieldRecord(mounts) : []),
  ];
}

function auditAll(options: AuditOptions): Pick<Audit, "findings" | "facts"> {
  const snapshot = takeSnapshot(options.initPid, options);
  if (snapshot.tree.length === 0) throw initGone(options.initPid);
  const externals = externalsOf(options);
  const tables = [...snapshot.mounts.values()];
  const flags = { ...DEFAULT_FLAGS, ...options.flags };
  const tmpfs = checkTmpfs(tables[0] ?? [], { ...snapshot, externals });
  return {
    findings: [
      ...tables.flatMap((mounts) => mountFindings(mounts, options)),
      ...checkQueues(tables[0] ?? [], snapshot),
      ...checkTasks(snapshot, flags),
      ...descriptorFindings(snapshot, flags),
      ...checkTerminals(snapshot),
      ...checkMemory(snapshot),
      ...checkSockets(snapshot, { ...flags, remadeInterfaces: options.remadeInterfaces ?? [] }),
      ...tmpfs.findings,
    ],
    facts: factsOf(snapshot, tmpfs.bytes),
  };
}

/** A mount id is one of the whole machine: a process may hold files of another mount namespace of the tree. */
function descriptorFindings(snapshot: Snapshot, flags: CheckpointFlags): Finding[] {
  const { tree, mounts, proc } = snapshot;
  const byId = new Map([...mounts.values()].flat().map((mount) => [mount.mountId, mount]));
  const isDeleted = deletedFiles(snapshot);
  const innerPids = new Set(tree.flatMap(({ innerPid }) => innerPid ?? []));
  return tree.flatMap((task) =>
    checkDescriptors(task, { ...flags, proc, mounts: byId, innerPids, isDeleted }),
  );
}

function factsOf(snapshot: Snapshot, tmpfsBytes: number): AuditFacts {
  return {
    processes: snapshot.tree.map(({ pid, innerPid, name }) => ({
      pid,
      ...(innerPid === undefined ? {} : { innerPid }),
      name,
    })),
    mounts: [...snapshot.mounts.values()].flat().length,
    descriptors: snapshot.tree.reduce((sum, { descriptors }) => sum + descriptors.length, 0),
    tmpfsBytes,
  };
}

function externalsOf({ externals = [] }: AuditOptions): string[] {
  return externals.map(({ mountPoint }) => mountPoint);
}

function initGone(initPid: number): CriuError {
  return new CriuError("DUMP_FAILED", `There is no process ${initPid} to audit`, {
    hint: "The session has ended: see its logs",
    facts: { pid: initPid },
  });
}
