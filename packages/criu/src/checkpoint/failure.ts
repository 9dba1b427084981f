import { readFile } from "node:fs/promises";
import { CriuError, type CriuErrorCode } from "../errors.js";
import { type Explanation, explainFailure } from "../explain/explain.js";
import { processText } from "../explain/name-process.js";
import type { Phase } from "../explain/rules.js";
import type { CriuResponse } from "../rpc/messages.js";

/** The files that tell why a call failed: CRIU's log, and what it wrote to stderr before it had one. */
export interface LogFiles {
  readonly log: string;
  readonly errors: string;
}

/** Gives an explanation its process. */
export type NameProcess = (explanation: Explanation) => Explanation | Promise<Explanation>;

/** The error of a call that CRIU answered with a failure, explained by its log. */
export async function failureError(
  phase: Exclude<Phase, "check">,
  files: LogFiles,
  response: Pick<CriuResponse, "crErrno" | "crErrmsg">,
  name: NameProcess,
): Promise<CriuError> {
  const text = await logText(files);
  const explanation = await name(explainFailure(text || response.crErrmsg, { phase }));
  const code: CriuErrorCode =
    explanation.rule === "disk-full" ? "DISK_FULL" : phase === "dump" ? "DUMP_FAILED" : "RESTORE_FAILED";
  return new CriuError(code, `CRIU's ${phase} failed: ${explanation.cause}${subjectOf(explanation)}`, {
    hint: explanation.remedy,
    log: { file: files.log, lines: explanation.lines },
    explanation,
    facts: { phase, errno: response.crErrno },
  });
}

/** What the failure is about, where it is known: the object by its own name and the process that has it. */
function subjectOf({ process, facts }: Explanation): string {
  const parts = [facts.object, process && processText(process)].filter(Boolean);
  return parts.length === 0 ? "" : `: ${parts.join(", ")}`;
}

/** The same for a call that CRIU did not answer: its error keeps its code and gains the log. */
export async function withLog(error: unknown, phase: Phase, files: LogFiles): Promise<unknown> {
  if (!(error instanceof CriuError) || !error.code.startsWith("RPC_")) return error;
  const explanation = explainFailure(await logText(files), { phase });
  return new CriuError(error.code, error.message, {
    hint: error.hint,
    cause: error.cause ?? error,
    log: { file: files.log, lines: explanation.lines },
    explanation,
    facts: error.facts,
  });
}

async function logText({ log, errors }: LogFiles): Promise<string> {
  const texts = await Promise.all([log, errors].map((file) => readFile(file, "utf8").catch(() => "")));
  return texts.filter(Boolean).join("\n");
}
