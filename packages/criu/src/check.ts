import { execa } from "execa";
import { CriuError } from "./errors.js";
import { explainFailure } from "./explain/explain.js";
import type { Criu } from "./install/find.js";
import { type CriuFeatures, queryFeatures, queryVersion } from "./rpc/queries.js";

/** What a CRIU says of itself and of this kernel. */
export interface CriuCheck {
  readonly version: string;
  /** Whether `criu check` passes: the gate for everything here. */
  readonly usable: boolean;
  /** The check's own lines; empty where it passes. */
  readonly problems: readonly string[];
  readonly features: CriuFeatures;
}

/**
 * Runs `criu check` (plain: --all and --extra fail for autofs and dirty tracking, which nothing here needs)
 * and asks for version and features over RPC.
 * @throws {CriuError} `CRIU_UNUSABLE` where the program cannot be run at all
 */
export async function checkCriu(criu: Criu): Promise<CriuCheck> {
  const { exitCode, stdout, stderr, code } = await execa(criu.file, [...criu.argv, "check"], {
    reject: false,
  });
  if (code !== undefined) throw unusable(criu, `${criu.file} cannot be run (${code})`);
  const output = [stdout, stderr].join("\n");
  if (exitCode !== 0)
    return { version: criu.version, usable: false, problems: problemsOf(output), features: NONE };
  return {
    version: await queryVersion(criu),
    usable: true,
    problems: [],
    features: await queryFeatures(criu),
  };
}

/** @throws {CriuError} `CRIU_UNUSABLE` with the check's own lines */
export function assertUsable(criu: Criu, check: CriuCheck): void {
  if (!check.usable)
    throw unusable(criu, `CRIU ${criu.version} does not work on this kernel: ${check.problems[0] ?? ""}`);
}

const NONE: CriuFeatures = { memTrack: false, lazyPages: false, pidfdStore: false };

function problemsOf(output: string): readonly string[] {
  const { lines } = explainFailure(output, { phase: "check" });
  return lines.length > 0 ? lines : ["criu check failed without a word"];
}

function unusable(criu: Criu, message: string): CriuError {
  return new CriuError("CRIU_UNUSABLE", message, {
    hint: "Run as root on a kernel with CONFIG_CHECKPOINT_RESTORE; install the private bundle where the system's CRIU is old",
    facts: { file: criu.file, version: criu.version },
  });
}
