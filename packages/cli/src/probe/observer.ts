import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type Group, whyUnavailable } from "@drums/cgroup2";
import { type LaunchPlan, openFolderRoot } from "@drums/nsexec";
import { encodePng } from "@drums/readiness";
import { inspectImage } from "@drums/rootfs";
import { codeOf } from "../errors.js";
import type { RecordInput } from "../evidence/records.js";
import type { Attempt } from "../evidence/writer.js";
import type { BootObserver, Handshake, Layered, VerifiedImage } from "../session/boot/steps.js";
import { INSIDE } from "../session/paths.js";

/** The rules of a wait as readiness.json keeps them. */
export type RulesFacts = RecordInput<"readiness.json">["rules"];

/** Writes each fact of a boot into an attempt's records at the moment at which it is known. */
export function recordBoot(attempt: Attempt, { rules }: { readonly rules: RulesFacts }): BootObserver {
  return {
    verified: (image) => recordImage(attempt, image),
    mounted: async (root) => {
      await attempt.record("mount.json", {
        way: root.way,
        passedOver: [...root.passedOver],
        mountPoint: root.path,
        device: root.device,
        uuid: root.uuid,
        journalReplayed: root.journalReplayed,
        mountinfo: await mountLine(root.path),
      });
    },
    layered: (layered) => recordLayers(attempt, layered),
    planned: (plan) => attempt.record("session/plan.json", { plan: printablePlan(plan) }),
    reported: async ({ pid, cgroup, mountinfo, namespaces, uidMap }) =>
      attempt.record("session/report.json", { pid, cgroup, mountinfo, namespaces, uidMap }),
    shook: (handshake) => recordHandshake(attempt, handshake),
    judged: async ({ verdict, frames, facts, bus, polls, elapsedMs }) => {
      for (const [index, frame] of frames.entries())
        await attempt.file(`screens/before${index === 0 ? "" : `-${index + 1}`}.png`, await encodePng(frame));
      if (facts !== undefined) await attempt.record("facts.json", { facts: { ...facts } });
      if (bus !== undefined) await attempt.record("shell.json", { bus });
      await attempt.record("readiness.json", {
        verdict: { name: verdict.name, ready: verdict.ready, reasons: [...verdict.reasons] },
        rules,
        polls,
        waitedMs: elapsedMs,
      });
    },
  };
}

async function recordImage(attempt: Attempt, { path, sha256, bytes, cached }: VerifiedImage): Promise<void> {
  const { header, format, table, root, journal } = await inspectImage(path);
  if ("fault" in root) throw root.fault;
  await attempt.record("image.json", {
    path,
    sha256,
    bytes,
    cached,
    format,
    header: { ...header },
    table: table.kind,
    partitions: table.partitions.map(({ index, start, bytes: size, filesystem }) => ({
      index,
      start,
      bytes: size,
      filesystem: filesystem?.kind ?? null,
    })),
    rootPartition: root.partition.index,
    needsRecovery: journal === "needs recovery",
  });
}

/** The filter is a program for the kernel; its bytes would say nothing to a reader. */
function printablePlan(plan: LaunchPlan): Record<string, unknown> {
  const { seccomp, ...rest } = plan;
  if (seccomp === undefined) return rest;
  return { ...rest, seccomp: `${seccomp.length / 8} instructions, sha256 ${sha256Of(seccomp)}` };
}

async function mountLine(mountPoint: string): Promise<string> {
  const lines = (await readFile("/proc/self/mountinfo", "utf8")).split("\n");
  return lines.find((line) => line.split(" ")[4] === mountPoint) ?? "";
}

async function recordLayers(attempt: Attempt, { root, xServer, init }: Layered): Promise<void> {
  const { recipe, layer } = xServer;
  const programs = ["/usr/bin/Xvfb", "/usr/bin/Xorg", "/usr/bin/Xtigervnc"];
  const found = await lookFor(root.path, programs);
  await attempt.record("layers.json", {
    rootPrograms: found,
    layers: [
      {
        name: "init",
        path: init.path,
        digest: init.digest,
        files: init.files,
        brings: [INSIDE.init],
        debs: [],
      },
      {
        name: recipe.name,
        path: layer.path,
        digest: layer.digest,
        files: layer.files,
        brings: [recipe.program],
        debs: layer.debs.map(({ name, version, expectedSha256, sha256 }) => ({
          package: name,
          version,
          expectedSha256,
          sha256,
        })),
      },
    ],
  });
}

/** Whether the mounted root itself has these programs; the image is trusted no more than a session. */
async function lookFor(
  folder: string,
  paths: readonly string[],
): Promise<{ path: string; found: boolean }[]> {
  const root = openFolderRoot(folder);
  try {
    return await Promise.all(
      paths.map(async (path) => ({
        path,
        found: await root.stat(path, { follow: true }).then(
          () => true,
          (error: unknown) => {
            if (codeOf(error) === "ENOENT") return false;
            throw error;
          },
        ),
      })),
    );
  } finally {
    root.close();
  }
}

async function recordHandshake(attempt: Attempt, handshake: Handshake): Promise<void> {
  const { initPid, startTime, namespaces, group, procs, overlay, checks, reportedMs, goMs, mountinfo } =
    handshake;
  await attempt.text("session/mountinfo.txt", mountinfo);
  await attempt.record("session/overlay.json", {
    mountPoint: "/",
    index: overlay.index,
    nfsExport: overlay.nfsExport,
    fellBack: [...overlay.fellBack],
  });
  await attempt.record("session/handshake.json", {
    initPid,
    startTime,
    namespaces,
    group: group === undefined ? null : groupFacts(group, procs),
    checks: [...checks],
    reportedMs,
    goMs,
  });
}

/** Limits that a session should have; where their controllers are missing, the record says so and why. */
const WANTED_CONTROLLERS = ["memory", "pids", "cpu"] as const;

function groupFacts(group: Group, procs: readonly number[]) {
  const missing = WANTED_CONTROLLERS.map((name) => whyUnavailable(group.hierarchy, name)?.reason);
  const reasons = [...new Set(missing.filter((reason) => reason !== undefined))];
  return {
    path: group.path,
    relative: group.relative,
    ownPath: group.hierarchy.ownPath,
    procs: [...procs],
    limits: {
      enforced: false,
      reason: reasons.length === 0 ? "no limit was asked for" : reasons.join("; "),
      readBack: {},
    },
  };
}

function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
