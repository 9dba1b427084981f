import type { Command } from "commander";
import type { CommandContext } from "./_context.js";
import { registerCheckpoint } from "./checkpoint.js";
import { registerExec } from "./exec.js";
import { registerFork } from "./fork.js";
import { registerGc } from "./gc.js";
import { registerImage } from "./image.js";
import { registerJudge } from "./judge.js";
import { registerLogs } from "./logs.js";
import { registerPool } from "./pool.js";
import { registerPreflight } from "./preflight.js";
import { registerProbe } from "./probe.js";
import { registerPs } from "./ps.js";
import { registerRm } from "./rm.js";
import { registerShot } from "./shot.js";
import { registerUp } from "./up.js";
import { registerVerify } from "./verify.js";

/** Adds a command, or a group of them, to the program. */
export type Register = (program: Command, context: CommandContext) => void;

/** Every command, in the order of `drums --help`. */
export const COMMANDS: readonly Register[] = [
  registerPreflight,
  registerImage,
  registerProbe,
  registerUp,
  registerPs,
  registerExec,
  registerShot,
  registerLogs,
  registerCheckpoint,
  registerFork,
  registerPool,
  registerRm,
  registerGc,
  registerJudge,
  registerVerify,
];
