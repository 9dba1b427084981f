import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { type CheckpointFlags, dump, imageSizes, restore } from "../../src/index.js";
import { testCriu } from "../helpers/criu.js";
import {
  copyUpper,
  endProcess,
  launchTiny,
  overlayData,
  type TinySession,
  until,
} from "../helpers/session.js";

const PROBE = readFileSync(fileURLToPath(new URL("probe.c", import.meta.url)), "utf8");
/** On the /run of criu's own mount namespace. */
const ROOT = "/run/drums-answers-root";

/** A session whose only program is the probe, and restores of its dump. */
export interface Bench {
  readonly session: TinySession;
  dumpIt(options?: { readonly leaveRunning?: boolean }): Promise<void>;
  /** Restores a sibling; returns its host pid and the folder of its upper. */
  restoreIt(
    name: string,
    flags?: Partial<CheckpointFlags>,
  ): Promise<{ readonly pid: number; readonly upper: string; readonly totalMs: number }>;
  readonly images: string;
  readonly layer: string;
}

/** Runs `body` on a session of the probe's, and ends all that it made. */
export async function withProbe<T>(body: (bench: Bench) => Promise<T>): Promise<T> {
  const session = await launchTiny("exec /probe", "cp PROBE_FILE ROOT/probe", {
    programs: { PROBE_FILE: PROBE },
  });
  const made: number[] = [];
  const at = (name: string) => join(session.folder, name);
  try {
    await until("the probe", async () => statSync(join(session.upper, "running")));
    return await body({
      session,
      images: at("images"),
      layer: at("layer"),
      dumpIt: async ({ leaveRunning = false } = {}) => {
        rmSync(at("layer"), { recursive: true, force: true });
        await dump({
          criu: await testCriu(),
          pid: session.pid,
          imagesDir: at("images"),
          leaveRunning,
          onPostDump: () => copyUpper(session.upper, at("layer")),
        });
      },
      restoreIt: async (name, flags = {}) => {
        const [upper, work] = [at(`${name}/upper`), at(`${name}/work`)];
        for (const folder of [upper, work]) mkdirSync(folder, { recursive: true });
        const { pid, totalMs } = await restore({
          criu: await testCriu(),
          imagesDir: at("images"),
          workDir: at(`${name}/criu`),
          root: ROOT,
          hostMounts: overlayMounts([at("layer"), session.lower], upper, work),
          flags,
        });
        made.push(pid);
        return { pid, upper, totalMs: Math.round(totalMs) };
      },
    });
  } finally {
    for (const pid of made) await endProcess(pid);
    await session.end();
  }
}

function overlayMounts(lowers: readonly string[], upper: string, work: string) {
  const data = overlayData({ lowers, upper, work });
  return [
    { kind: "mount", fsType: "tmpfs", source: "tmpfs", target: "/run", data: "mode=755,size=1m" },
    { kind: "folder", path: ROOT },
    { kind: "mount", fsType: "overlay", source: "overlay", target: ROOT, data },
  ] as const;
}

/** Asks the probe and gives one of its files as names and values. */
export async function ask(
  pid: number,
  upper: string,
  file: "locks" | "clocks",
): Promise<Record<string, string>> {
  const path = join(upper, file);
  rmSync(path, { force: true });
  process.kill(pid, "SIGUSR1");
  const text = await until(`the probe's ${file}`, async () => readFileSync(path, "utf8"));
  return Object.fromEntries(
    text
      .trim()
      .split("\n")
      .map((line) => line.split(" ") as [string, string]),
  );
}

/** The largest jump of each clock, in milliseconds. */
export async function jumps(pid: number, upper: string): Promise<Record<string, number>> {
  const told = await ask(pid, upper, "clocks");
  return Object.fromEntries(
    Object.entries(told).map(([name, value]) => [name, Math.round(Number(value) / 1000)]),
  );
}

/** Takes a folder's files out of the page cache (posix_fadvise POSIX_FADV_DONTNEED); returns the bytes left in it. */
export async function dropFromCache(folder: string): Promise<{ before: number; after: number }> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const before = await cached(files);
  for (const file of files)
    await execa("dd", [`of=${file}`, "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"]);
  return { before, after: await cached(files) };
}

/** fincore(1): bytes of files that are in memory. */
async function cached(files: readonly string[]): Promise<number> {
  const { stdout } = await execa("fincore", ["--bytes", "--noheadings", "--output", "RES", ...files]);
  return stdout.split("\n").reduce((sum, line) => sum + Number(line.trim()), 0);
}

/** Sizes of one generation of a chain. */
export interface Generation {
  readonly images: number;
  readonly pages: number;
  readonly upper: number;
  readonly dumpMs: number;
  readonly restoreMs: number;
}

/** Dumps, restores and dumps again, each from the sibling before: a layer and a generation more each time. */
export async function generations(count: number): Promise<Generation[]> {
  const session = await launchTiny("exec /probe", "cp PROBE_FILE ROOT/probe", {
    programs: { PROBE_FILE: PROBE },
  });
  const criu = await testCriu();
  const found: Generation[] = [];
  const lowers = [session.lower];
  let now = { pid: session.pid, upper: session.upper };
  try {
    await until("the probe", async () => statSync(join(session.upper, "running")));
    for (let number = 1; number <= count; number++) {
      await ask(now.pid, now.upper, "locks");
      const at = (name: string) => join(session.folder, `generation-${number}`, name);
      const { upper: dumped, pid } = now;
      const report = await dump({
        criu,
        pid,
        imagesDir: at("images"),
        leaveRunning: false,
        onPostDump: () => copyUpper(dumped, at("layer")),
      });
      lowers.unshift(at("layer"));
      for (const folder of [at("upper"), at("work")]) mkdirSync(folder, { recursive: true });
      const restored = await restore({
        criu,
        imagesDir: at("images"),
        workDir: at("criu"),
        root: ROOT,
        hostMounts: overlayMounts(lowers, at("upper"), at("work")),
      });
      now = { pid: restored.pid, upper: at("upper") };
      const sizes = await imageSizes(at("images"));
      found.push({
        images: sizes.total,
        pages: sizes.pages,
        upper: await diskBytes(at("layer")),
        dumpMs: Math.round(report.totalMs),
        restoreMs: Math.round(restored.totalMs),
      });
    }
    await ask(now.pid, now.upper, "locks");
    return found;
  } finally {
    await endProcess(now.pid);
    await session.end();
  }
}

async function diskBytes(folder: string): Promise<number> {
  const { stdout } = await execa("du", ["--summarize", "--bytes", folder]);
  return Number.parseInt(stdout, 10);
}
