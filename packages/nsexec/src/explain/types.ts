import type { LaunchPlan } from "../plan/schema.js";

/** Why a step failed, as far as the machine shows it. */
export interface Explanation {
  /** Stable: the cause's name. */
  readonly reason: string;
  /** What to do about it. */
  readonly hint: string;
}

/** A step of a plan that drums-init could not carry out. */
export interface StepFailure {
  readonly step: string;
  readonly path: string;
  /** The errno's name. */
  readonly errno: string;
  /** The plan that the step is of, where it is known. */
  readonly plan?: Pick<LaunchPlan, "hostMounts" | "insideMounts"> | undefined;
}

/** What is asked of the machine after a failure. */
export interface ExplainSystem {
  /** A file's text, or undefined where it cannot be read. */
  readText(path: string): string | undefined;
  /** stat(2) and statfs(2) of a path of the host, or undefined where there is nothing. */
  look(path: string): PathLook | undefined;
}

/** Of a path: enough to tell folders and filesystems apart. */
export interface PathLook {
  readonly device: bigint;
  readonly folder: boolean;
  /** f_type of statfs(2). */
  readonly fsMagic: bigint;
}
